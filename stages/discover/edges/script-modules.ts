import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { normalize } from 'node:path/posix'
import { isRecord } from '#domain/json.ts'
import { inFolder, type Module, type ModuleMap, type NodePackage } from './module-map.ts'

const endings = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.d.ts', '.d.mts']

/** The source extensions for an imported extension: TypeScript files are imported by the names of their output. */
const sources: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\.js$/, ['.ts', '.tsx', '.d.ts', '.jsx']],
  [/\.jsx$/, ['.tsx']],
  [/\.mjs$/, ['.mts', '.d.mts']],
  [/\.cjs$/, ['.cts', '.d.cts']],
]

/** A relative path, a name of `imports` or `paths`, or a package of the repository. */
export function scriptModule(from: string, module: string, map: ModuleMap): Module | undefined {
  if (/^\.{1,2}(?:\/|$)/.test(module)) return fileAt(inFolder(folderOf(from), module), map)
  const folders = foldersUp(folderOf(from))
  const folder = folders.find((one) => map.nodePackages.has(one))
  const inside = folder === undefined ? undefined : map.nodePackages.get(folder)
  if (module.startsWith('#'))
    return inside === undefined ? undefined : fromTable(module, inside.imports, folder ?? '', map)
  const aliases = folders.find((one) => map.pathAliases.has(one))
  const table = aliases === undefined ? undefined : map.pathAliases.get(aliases)
  const aliased = table === undefined ? undefined : fromTable(module, Object.fromEntries(table), aliases ?? '', map)
  return aliased ?? fromPackage(module, map)
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

/** The entry that fits: the exact one, else the one with the longest text before its star. */
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
  const [best] = fitting.toSorted((a, b) => b.key.length - a.key.length)
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
  return conditions.map(plainTarget).find((found) => found !== undefined)
}

function fileAt(path: string, map: ModuleMap): Module | undefined {
  const plain = normalize(path).replace(/\/$/, '')
  if (plain.startsWith('..')) return undefined
  const base = plain === '.' ? '' : plain
  const swapped = sources.flatMap(([ending, others]) =>
    ending.test(base) ? others.map((other) => base.replace(ending, other)) : [],
  )
  const index = endings.map((ending) => inFolder(base, `index${ending}`))
  const found = [base, ...swapped, ...endings.map((ending) => base + ending), ...index].find((one) =>
    map.paths.has(one),
  )
  return found === undefined ? undefined : { paths: [found] }
}
