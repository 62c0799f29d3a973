import type { ModuleUses } from './module-uses.ts'

/** Who uses a thing: the path of the only file that does, or `several`. */
type User = { path: string } | 'several'
type Takers = { whole: Map<string, User>; names: Map<string, User> }

/**
 * Which names of each file's module other files depend on; `all` where one takes everything. `uses` holds every Python
 * file of the snapshot, tests and vendored files too, and the texts that may name modules. A file is taken for every
 * module whose name ends as its own does, so a name may be kept for the sake of another module of that name, but is never
 * lost. What only the file itself mentions is not kept; its `__all__` is.
 */
export function foldKeptNames(uses: ReadonlyMap<string, ModuleUses>): (path: string) => 'all' | string[] {
  const takers: Takers = { whole: new Map(), names: new Map() }
  for (const [path, { modules, packages }] of uses) {
    for (const [module, names] of Object.entries(modules)) noteTaker(takers, { module, names, path })
    for (const [dots, names] of Object.entries(packages)) {
      noteTaker(takers, { module: `${folderAbove(path, Number(dots))}/`, names, path })
    }
  }
  return (path) => {
    const own = uses.get(path)
    if (own === undefined) return []
    const modules = moduleNames(path)
    // The snapshot may be the package itself, under a name that nothing in it says.
    const isRoot = modules.includes('')
    if (isRoot || modules.some((module) => isOthers(takers.whole.get(module), path))) return 'all'
    const isTaken = (name: string) => modules.some((module) => isOthers(takers.names.get(`${module}:${name}`), path))
    return [...new Set([...own.binds.filter(isTaken), ...own.exported])]
  }
}

function noteTaker(takers: Takers, { module, names, path }: { module: string; names: string[] | 'all'; path: string }) {
  if (names === 'all') noteUser(takers.whole, module, path)
  else for (const name of names) noteUser(takers.names, `${module}:${name}`, path)
}

function noteUser(users: Map<string, User>, key: string, path: string): void {
  const known = users.get(key)
  users.set(key, known === undefined || (known !== 'several' && known.path === path) ? { path } : 'several')
}

function isOthers(user: User | undefined, path: string): boolean {
  return user === 'several' || (user !== undefined && user.path !== path)
}

/** The names a file's module is looked up by: the last part of its name and, for a package, its folder. */
function moduleNames(path: string): string[] {
  const [folder = '', file = path] = /^(?:(.*)\/)?([^/]*)$/.exec(path)?.slice(1) ?? []
  const stem = file.slice(0, file.lastIndexOf('.'))
  return stem === '__init__' ? [folder.slice(folder.lastIndexOf('/') + 1), `${folder}/`] : [stem]
}

/** The folder that so many leading dots of a relative import mean. */
function folderAbove(path: string, dots: number): string {
  return path.split('/').slice(0, -dots).join('/')
}
