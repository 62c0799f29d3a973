import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'
import { z } from 'zod'

/** The repository's root, with a slash at the end. */
export const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url))

export const manifest = z
  .object({ scripts: z.record(z.string(), z.string()), imports: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readRepositoryFile('package.json')))

/** `target` is a path from the root for a file of ours, else the name of a package or of a module of Node. */
export type Import = { specifier: string; target: string; isOurs: boolean }

export type Source = { path: string; lines: number; imports: Import[]; exportedNames: string[] }

export function readRepositoryFile(path: string): string {
  return readFileSync(repositoryRoot + path, 'utf8')
}

/** The files that match a glob, as sorted paths from the root, without `node_modules`, `raw` and `dist`. */
export function filesMatching(glob: string): string[] {
  const files = globSync(glob, {
    cwd: repositoryRoot,
    exclude: ['**/node_modules/**', 'bench/raw/**', 'dist/**', 'dashboard/dist/**'],
  })
  return files.map((path) => path.replaceAll('\\', '/')).toSorted()
}

/** The folders of the product: those that `imports` of package.json names, and those that nobody imports from outside. */
const productFolders = [
  ...new Set(Object.values(manifest.imports).map((place) => place.split('/')[1] ?? '')),
  'cli',
  'dashboard',
].filter((folder) => folder !== 'testing')

/** The modules of the product, its tests included. */
export function productFiles(): string[] {
  return filesMatching(`{${productFolders.join(',')}}/**/*.{ts,tsx,mjs}`)
}

/** All modules of ours. */
export function ownFiles(): string[] {
  return [...productFiles(), ...filesMatching('{bench,scripts,testing,tests}/**/*.{ts,mjs}')].toSorted()
}

export function readSources(): Source[] {
  return ownFiles().map((path) => readSource(path, readRepositoryFile(path)))
}

/** Reads one file. Throws when it does not parse. */
export function readSource(path: string, text: string): Source {
  const { module, errors } = parseSync(path, text)
  const [error] = errors
  if (error !== undefined) throw new Error(`${path} does not parse: ${error.message}`)
  const specifiers = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
    ...module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => plainString(text.slice(start, end)) ?? []),
    // A thread or a child that is started by its URL.
    ...text.matchAll(/new URL\(\s*'([^']+\.(?:ts|mjs))',\s*import\.meta\.url/g).map(([, file = '']) => relative(file)),
  ]
  return {
    path,
    lines: text.split('\n').length - 1,
    imports: [...new Set(specifiers)].map((specifier) => ({ specifier, ...resolveImport(path, specifier) })),
    exportedNames: module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ exportName }) => exportName.name ?? []),
    ),
  }
}

function plainString(literal: string): string | undefined {
  return /^'([^']*)'$/.exec(literal)?.[1]
}

/** A URL may leave out the `./` that an import needs. */
function relative(specifier: string): string {
  return /^\.{0,2}\//.test(specifier) ? specifier : `./${specifier}`
}

/** Resolves by the rules of Node: the `imports` of package.json, relative paths, packages. */
function resolveImport(from: string, specifier: string): Pick<Import, 'target' | 'isOurs'> {
  if (specifier.startsWith('.')) return { target: posix.join(posix.dirname(from), specifier), isOurs: true }
  const [pattern, folder] =
    Object.entries(manifest.imports).find(([key]) => specifier.startsWith(key.slice(0, -1))) ?? []
  if (pattern !== undefined && folder !== undefined)
    return { target: posix.normalize(folder.replace('*', specifier.slice(pattern.length - 1))), isOurs: true }
  const [scope = '', name = ''] = specifier.split('/')
  return { target: scope.startsWith('@') ? `${scope}/${name}` : scope, isOurs: false }
}

/** Tests, what only tests import (`x.fixture.ts`, `testing/`), and everything in `tests/`. */
export function isTestFile(path: string): boolean {
  return /\.(?:test|fixture)\.tsx?$|^test(?:s|ing)\//.test(path)
}
