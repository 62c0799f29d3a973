import { folderOf, foldersUp, inFolder, type Module, type ModuleMap } from './module-map.ts'

/** The package an import path names, by the `go.mod` nearest around the file, then by any other of the repository. */
export function goModule(from: string, module: string, map: ModuleMap): Module | undefined {
  const around = foldersUp(folderOf(from)).filter((folder) => map.goModules.has(folder))
  for (const root of new Set([...around, ...map.goModules.keys()])) {
    const folder = packageFolder(root, map.goModules.get(root) ?? '', module)
    const paths = folder === undefined ? undefined : map.goPackages.get(folder)
    if (folder !== undefined && paths !== undefined) return { paths, folder }
  }
  return undefined
}

/** Go's own library is the module `std`, whose packages go by their folders alone. */
function packageFolder(root: string, modulePath: string, module: string): string | undefined {
  if (modulePath === 'std') return inFolder(root, module)
  if (module === modulePath) return root
  return module.startsWith(`${modulePath}/`) ? inFolder(root, module.slice(modulePath.length + 1)) : undefined
}

/** What a package is called where it is imported: the last part of its path that is no version. */
export function goPackageName(module: string): string {
  const parts = module.split('/').filter((part) => !/^v\d+$/.test(part))
  return (parts.at(-1) ?? module).replace(/\.v\d+$/, '').replace(/^go-|-go$/g, '')
}
