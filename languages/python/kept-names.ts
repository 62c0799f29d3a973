import { basename } from 'node:path/posix'
import { folderOf } from '#domain/repo-path.ts'
import { moduleItself, type ModuleUses } from './module-uses.ts'

/** Is the path of the only file that uses a module or name, or `several`. */
type User = { path: string } | 'several'
/** Holds the users of modules in any way, of whole modules, and of names by `module:name`. */
type Users = { any: Map<string, User>; whole: Map<string, User>; names: Map<string, User> }

/**
 * Returns the names of a file's module that other files depend on; `all` when one of them uses everything. `uses` holds every Python file of
 * the snapshot. A file counts as every module whose name ends like its own, so too much may be kept, and none is lost. `moduleItself` is
 * among them when another file uses the module in any way.
 */
export function foldKeptNames(uses: ReadonlyMap<string, ModuleUses>): (path: string) => 'all' | string[] {
  const users: Users = { any: new Map(), whole: new Map(), names: new Map() }
  for (const [path, { modules, packages }] of uses) {
    for (const [module, names] of Object.entries(modules)) noteNames(users, { module, names, path })
    for (const [dots, names] of Object.entries(packages)) {
      const folder = path.split('/').slice(0, -Number(dots)).join('/')
      noteNames(users, { module: `${folder}/`, names, path })
    }
  }
  return (path) => {
    const own = uses.get(path)
    if (own === undefined) return []
    const modules = moduleNames(path)
    // The snapshot may be the package itself, whose name is in none of its paths.
    const isRoot = modules.includes('')
    if (isRoot || modules.some((module) => isOthers(users.whole.get(module), path))) return 'all'
    const isUsed = (name: string) => modules.some((module) => isOthers(users.names.get(`${module}:${name}`), path))
    const isTaken =
      modules.some((module) => isOthers(users.any.get(module), path)) ||
      placesOf(path).some((place) => isOthers(users.names.get(place), path))
    return [...new Set([...own.binds.filter(isUsed), ...own.exported, ...(isTaken ? [moduleItself] : [])])]
  }
}

function noteNames(users: Users, { module, names, path }: { module: string; names: string[] | 'all'; path: string }) {
  noteUser(users.any, module, path)
  if (names === 'all') noteUser(users.whole, module, path)
  else for (const name of names) noteUser(users.names, `${module}:${name}`, path)
}

function noteUser(users: Map<string, User>, key: string, path: string): void {
  const known = users.get(key)
  users.set(key, known === undefined || (known !== 'several' && known.path === path) ? { path } : 'several')
}

function isOthers(user: User | undefined, path: string): boolean {
  return user === 'several' || (user !== undefined && user.path !== path)
}

/** Returns the keys of a file's module: the last part of its name and, for a package, also its folder. */
function moduleNames(path: string): string[] {
  const [folder, stem] = [folderOf(path), basename(path).replace(/\.\w*$/, '')]
  return stem === '__init__' ? [basename(folder), `${folder}/`] : [stem]
}

/** Returns the file's module as a name of the package that it is in: `from package import module`, `from . import module`. */
function placesOf(path: string): string[] {
  const module = path.replace(/(?:\/__init__)?\.\w+$/, '')
  const [folder, name] = [folderOf(module), basename(module)]
  return [`${basename(folder)}:${name}`, `${folder}/:${name}`]
}
