import { folderOf, foldersUp, inFolder, type Module, type ModuleMap } from './module-map.ts'

/** `a.b`, `.a`, `..`, as the file at `from` means it. Nothing above the repository's top is looked for. */
export function pythonModule(from: string, module: string, map: ModuleMap): Module | undefined {
  const dots = /^\.*/.exec(module)?.[0].length ?? 0
  const names = module
    .slice(dots)
    .split('.')
    .filter((name) => name !== '')
  if (dots > 0) {
    const folder = foldersUp(folderOf(from))[dots - 1]
    return folder === undefined ? undefined : moduleIn(folder, names, map)
  }
  for (const root of rootsFor(from, map)) {
    const [first = ''] = names
    if (moduleIn(root, [first], map) !== undefined) return moduleIn(root, names, map)
  }
  return undefined
}

export function pythonSubmodule(module: Module, name: string, map: ModuleMap): Module | undefined {
  return module.folder === undefined ? undefined : moduleIn(module.folder, [name], map)
}

/** The folders around a file that are no packages, nearest first, then those that hold packages elsewhere. */
function rootsFor(from: string, map: ModuleMap): string[] {
  const around = foldersUp(folderOf(from)).filter((folder) => !map.paths.has(inFolder(folder, '__init__.py')))
  return [...new Set([...around, ...map.pythonRoots])]
}

/** A package's `__init__.py`, a file, or a folder without one: as Python itself prefers them. */
function moduleIn(folder: string, names: readonly string[], map: ModuleMap): Module | undefined {
  const path = inFolder(folder, names.join('/'))
  const [start, ...stubs] = ['/__init__.py', '.py', '/__init__.pyi', '.pyi'].map((ending) =>
    path === '' ? ending.replace(/^\//, '') : `${path}${ending}`,
  )
  const file = [start, ...stubs].find((candidate) => candidate !== undefined && map.paths.has(candidate))
  const isFolder = map.folders.has(path)
  if (file === undefined) return isFolder ? { paths: [], folder: path } : undefined
  return isFolder ? { paths: [file], folder: path } : { paths: [file] }
}
