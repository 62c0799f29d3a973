import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { basename, extname } from 'node:path/posix'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { packageFile } from '#platform/package-file.ts'

type Grammar = {
  wasm: string
  /** File endings, lower case. A file with an ending of no grammar still gives a file node. */
  endings: readonly string[]
  /** Whole file names, as they are written, for files without an ending. */
  names?: readonly string[]
}

/** A new language needs one row here and a query pack; no other code (docs/guide/query-packs.md). */
const grammars: Readonly<Record<string, Grammar>> = {
  // No `.pym`: tool scripts are a subset of Python that only the sandbox runs.
  python: { wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm', endings: ['.py', '.pyi'] },
  typescript: { wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-typescript.wasm', endings: ['.ts', '.mts', '.cts'] },
  tsx: { wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-tsx.wasm', endings: ['.tsx'] },
  javascript: {
    wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-javascript.wasm',
    endings: ['.js', '.mjs', '.cjs', '.jsx'],
  },
  go: { wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-go.wasm', endings: ['.go'] },
  rust: { wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-rust.wasm', endings: ['.rs'] },
  java: { wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-java.wasm', endings: ['.java'] },
  ruby: {
    wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-ruby.wasm',
    endings: ['.rb', '.rake', '.gemspec'],
    names: ['Rakefile', 'Gemfile'],
  },
  c: { wasm: 'tree-sitter-c/tree-sitter-c.wasm', endings: ['.c', '.h'] },
  cpp: {
    wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-cpp.wasm',
    endings: ['.cc', '.cpp', '.cxx', '.hh', '.hpp', '.hxx', '.h++', '.c++', '.ipp', '.inl'],
  },
  c_sharp: { wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-c-sharp.wasm', endings: ['.cs', '.csx'] },
  php: { wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-php.wasm', endings: ['.php', '.phtml'] },
  bash: { wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm', endings: ['.sh', '.bash', '.bats', '.ksh'] },
  markdown: {
    // Its own package ships no wasm.
    wasm: '@cursorless/tree-sitter-wasms/out/tree-sitter-markdown.wasm',
    endings: ['.md', '.markdown', '.mdown'],
  },
  toml: { wasm: '@tree-sitter-grammars/tree-sitter-toml/tree-sitter-toml.wasm', endings: ['.toml'] },
  yaml: { wasm: '@tree-sitter-grammars/tree-sitter-yaml/tree-sitter-yaml.wasm', endings: ['.yaml', '.yml'] },
  json: { wasm: 'tree-sitter-json/tree-sitter-json.wasm', endings: ['.json', '.jsonc', '.webmanifest'] },
  html: { wasm: 'tree-sitter-html/tree-sitter-html.wasm', endings: ['.html', '.htm', '.xhtml'] },
  lua: { wasm: '@cursorless/tree-sitter-wasms/out/tree-sitter-lua.wasm', endings: ['.lua'] },
  css: { wasm: '@vscode/tree-sitter-wasm/wasm/tree-sitter-css.wasm', endings: ['.css'] },
}

const languageByEnding: ReadonlyMap<string, string> = new Map(
  Object.entries(grammars).flatMap(([language, { endings }]) => endings.map((ending) => [ending, language] as const)),
)

const languageByName: ReadonlyMap<string, string> = new Map(
  Object.entries(grammars).flatMap(([language, { names = [] }]) => names.map((name) => [name, language] as const)),
)

export const languages: readonly string[] = Object.keys(grammars)

/** Lists the grammars' wasm files, as `packageFile` takes them. */
export const grammarFiles: readonly string[] = Object.values(grammars).map(({ wasm }) => wasm)

export function languageOf(path: string): string | undefined {
  return languageByName.get(basename(path)) ?? languageByEnding.get(extname(path).toLowerCase())
}

/** Absolute path of the grammar's wasm file. DISC_003 for a language that has none. */
export function grammarFile(language: string): string {
  const grammar = Object.hasOwn(grammars, language) ? grammars[language] : undefined
  if (grammar === undefined) {
    throw new AppError('DISC_003', `unknown language ${JSON.stringify(language)}; known: ${languages.join(', ')}`)
  }
  return packageFile(grammar.wasm)
}

/** `package version` of the grammar, as its package.json says. DISC_003 for an unknown language. */
export function grammarVersion(language: string): string {
  return packageVersion(grammarFile(language))
}

export function parserVersion(): string {
  return packageVersion(packageFile('web-tree-sitter'))
}

const PackageFile = z.object({ name: z.string(), version: z.string() })

const knownVersions = new Map<string, string>()

function packageVersion(fileInside: string): string {
  return getOrMake(knownVersions, fileInside, () => {
    let folder = dirname(fileInside)
    while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
    const { name, version } = PackageFile.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
    return `${name} ${version}`
  })
}

/** Languages whose name is more than their id with a capital letter. */
const names: ReadonlyMap<string, string> = new Map([
  ['c_sharp', 'C#'],
  ['cpp', 'C++'],
  ['css', 'CSS'],
  ['html', 'HTML'],
  ['javascript', 'JavaScript'],
  ['json', 'JSON'],
  ['php', 'PHP'],
  ['toml', 'TOML'],
  ['tsx', 'TSX'],
  ['typescript', 'TypeScript'],
  ['unknown', 'other'],
  ['yaml', 'YAML'],
])

/** Names the files of a language in a sentence; undefined stands for no language with a grammar. */
export function fileKind(path: string, language: string | undefined): string {
  if (language !== undefined) return languageName(language)
  return extname(path) === '' ? 'files without an ending' : `${extname(path)} files`
}

/** A language as a sentence writes it: `Python` for `python`, `other` for files of no known language. */
export function languageName(language: string): string {
  return names.get(language) ?? `${language.charAt(0).toUpperCase()}${language.slice(1)}`
}
