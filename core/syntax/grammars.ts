import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { extname } from 'node:path/posix'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'

type Grammar = {
  /** The wasm file its npm package ships. */
  wasm: string
  /** File endings, lower case. A file with an ending of no grammar still gives a file node. */
  endings: readonly string[]
}

/** One row is all the code a new language needs; the rest is its query pack. */
const grammars: Readonly<Record<string, Grammar>> = {
  // No `.pym`: a tool script is written in less than Python and run by the sandbox alone.
  python: { wasm: 'tree-sitter-python/tree-sitter-python.wasm', endings: ['.py', '.pyi'] },
}

const languageByEnding: ReadonlyMap<string, string> = new Map(
  Object.entries(grammars).flatMap(([language, { endings }]) => endings.map((ending) => [ending, language] as const)),
)

export const languages: readonly string[] = Object.keys(grammars)

/** The language of a path by its ending, or undefined. */
export function languageOf(path: string): string | undefined {
  return languageByEnding.get(extname(path).toLowerCase())
}

/** Absolute path of the grammar's wasm file. DISC_003 for a language that has none. */
export function grammarFile(language: string): string {
  const grammar = Object.hasOwn(grammars, language) ? grammars[language] : undefined
  if (grammar === undefined) {
    throw new AppError('DISC_003', `unknown language ${JSON.stringify(language)}; known: ${languages.join(', ')}`)
  }
  return createRequire(import.meta.url).resolve(grammar.wasm)
}

/** `package version` of the grammar, as its package.json says. DISC_003 for an unknown language. */
export function grammarVersion(language: string): string {
  return packageVersion(grammarFile(language))
}

/** `package version` of the parser that runs the grammars. */
export function parserVersion(): string {
  return packageVersion(createRequire(import.meta.url).resolve('web-tree-sitter'))
}

const PackageFile = z.object({ name: z.string(), version: z.string() })

function packageVersion(fileInside: string): string {
  let folder = dirname(fileInside)
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  const { name, version } = PackageFile.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
  return `${name} ${version}`
}
