import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { normalize } from 'node:path/posix'
import { isRecord } from '#domain/json.ts'
import { inFolder, type Module, type ModuleMap, type NodePackage } from './module-map.ts'

const endings = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.d.ts', '.d.mts']

/** Maps imported extensions to those of the source: TypeScript files are imported by the names of their output. */
const sources: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\.js$/, ['.ts', '.tsx', '.d.ts', '.jsx']],
  [/\.jsx$/, ['.tsx']],
  [/\.mjs$/, ['.mts', '.d.mts']],
  [/\.cjs$/, ['.cts', '.d.cts']],
]

/** Finds a module by a relative path, a name of `imports` or `paths`, or a package of the repository. */
export function scriptModule(from: string, module: string, map: ModuleMap): Module | undefined {
  if (/^\.{1,2}(?:\/|$)/.test(module)) return fileAt(inFolder(folderOf(from), module), map)
  const folders = foldersUp(folderOf(from))
  if (module.startsWith('#')) {
    const own = nearestIn(map.nodePackages, folders)
    return own && fromTable(module, own.value.imports, own.folder, map)
  }
  const aliases = nearestIn(map.pathAliases, folders)
  const aliased = aliases && fromTable(module, Object.fromEntries(aliases.value), aliases.folder, map)
  return aliased ?? fromPackage(module, map)
}

function nearestIn<T>(values: ReadonlyMap<string, T>, folders: readonly string[]) {
  for (const folder of folders) {
    const value = values.get(folder)
    if (value !== undefined) return { folder, value }
  }
  return undefined
}

function fromPackage(module: string, map: ModuleMap): Module | undefined {
  for (const [folder, inside] of map.nodePackages) {
    const { name } = inside
    if (name === undefined || (module !== name && !module.startsWith(`${name}/`))) continue
    const rest = module.slice(name.length)
    return exported(`.${rest}`, inside, folder, map) ?? fileAt(inFolder(folder, `.${rest}`), map)
  }
  return undefined
}

function exported(subpath: string, { exports, main }: NodePackage, folder: string, map: ModuleMap): Module | undefined {
  if (exports !== undefined) {
    const plain = typeof exports === 'string' || !Object.keys(exports).some((key) => key.startsWith('.'))
    return fromTable(subpath, plain ? { '.': exports } : exports, folder, map)
  }
  const entry = subpath === '.' ? main : undefined
  return entry === undefined ? undefined : fileAt(inFolder(folder, entry), map)
}

/** Follows the entry that fits: the exact one, else the one with the longest text before its star. */
function fromTable(
  module: string,
  table: Readonly<Record<string, unknown>>,
  folder: string,
  map: ModuleMap,
): Module | undefined {
  const fitting = Object.entries(table).flatMap(([key, target]) => {
    const star = starOf(key, module)
    return star === undefined ? [] : [{ key, star, target }]
  })
  const [best] = fitting.toSorted((left, right) => right.key.length - left.key.length)
  const target = best === undefined ? undefined : plainTarget(best.target)
  if (best === undefined || target === undefined) return undefined
  return fileAt(inFolder(folder, target.replaceAll('*', best.star)), map)
}

function starOf(key: string, module: string): string | undefined {
  if (key === module) return ''
  const [before = '', after] = key.split('*')
  if (after === undefined || !module.startsWith(before) || !module.endsWith(after)) return undefined
  const end = module.length - after.length
  return end < before.length ? undefined : module.slice(before.length, end)
}

function plainTarget(target: unknown): string | undefined {
  if (typeof target === 'string') return target
  const conditions = isRecord(target) ? Object.values(target) : []
  return conditions.map(plainTarget).find((path) => path !== undefined)
}

function fileAt(path: string, map: ModuleMap): Module | undefined {
  const plain = normalize(path).replace(/\/$/, '')
  if (plain.startsWith('..')) return undefined
  const base = plain === '.' ? '' : plain
  const swapped = sources.flatMap(([ending, others]) =>
    ending.test(base) ? others.map((other) => base.replace(ending, other)) : [],
  )
  const index = endings.map((ending) => inFolder(base, `index${ending}`))
  const candidates = [base, ...swapped, ...endings.map((ending) => base + ending), ...index]
  const file = candidates.find((candidate) => map.paths.has(candidate))
  return file === undefined ? undefined : { paths: [file] }
}
