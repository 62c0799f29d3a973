import { basename } from 'node:path/posix'
import type { Tree } from 'web-tree-sitter'
import { z } from 'zod'
import { purposeOf } from '#domain/path-purpose.ts'
import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { readToml } from '#platform/toml-source.ts'
import type { ImportedHere } from './import-facts.ts'
import { moduleBindingsOf } from './module-bindings.ts'
import { isStandardModule } from './standard-modules.ts'

/** Is true when users of a public module may have come to import the name of an import from it: its removal would break them. */
export function isOffered({ name, module, imported, scope }: ImportedHere): boolean {
  if (scope !== '' || name.startsWith('_') || module === '__future__') return false
  const isPlain = imported === undefined && name === module.split('.')[0]
  return !(isPlain && isStandardModule(module))
}

/** Is true when a module lists what it offers: its `__all__` has a name that the module binds, so it is no computed one. */
export function listsItsNames(tree: Tree): boolean {
  const { bindings, exported = [] } = moduleBindingsOf(tree)
  const bound = new Set(bindings.flatMap(({ scope, name }) => (scope === '' ? [name] : [])))
  return exported.some((name) => bound.has(name))
}

type Metadata = { path: string; text: string }

/**
 * Tells whether users of the repository may import a file: packaging metadata lies in a folder above it, it is no test, script, example
 * or document, and no part of its name has a leading underscore. `files` hold the texts of `pyproject.toml` and `setup.cfg`.
 */
export function publicModules(paths: readonly string[], files: readonly Metadata[]): (path: string) => boolean {
  const described = files.flatMap((file) => (describesPackage(file) ? [file.path] : []))
  const packaged = new Set([...paths.filter((path) => /(?:^|\/)setup\.py$/.test(path)), ...described].map(folderOf))
  return (path) => {
    const root = foldersUp(folderOf(path)).find((folder) => packaged.has(folder))
    if (root === undefined) return false
    const inside = root === '' ? path : path.slice(root.length + 1)
    // A package of its own may lie in `tools/` of the repository, but not among its tests.
    const isProduct = purposeOf(inside) === 'source' && ['source', 'script'].includes(purposeOf(path))
    return isProduct && publicName.test(inside)
  }
}

/** Matches a file in no folder, or in folders whose names Python can import; no name begins with an underscore. */
const publicName = /^(?:(?!_)[\p{L}\p{N}_]+\/)*(?!_)[\p{L}\p{N}_]+\.py$/u

const Switches = z.object({
  project: z.unknown().optional(),
  'build-system': z.unknown().optional(),
  tool: z
    .object({
      poetry: z.object({ 'package-mode': z.unknown().optional() }).optional(),
      uv: z.object({ package: z.unknown().optional() }).optional(),
    })
    .optional(),
})

/** Is true also for a `pyproject.toml` that cannot be read. Poetry and uv have a switch for what is no package. */
function describesPackage({ path, text }: Metadata): boolean {
  const name = basename(path)
  if (name === 'setup.cfg') return /^\[metadata\]/m.test(text)
  if (name !== 'pyproject.toml') return false
  const read = readToml(text)
  const settings = 'table' in read ? Switches.safeParse(read.table).data : undefined
  if (settings === undefined) return true
  const { poetry, uv } = settings.tool ?? {}
  if (poetry?.['package-mode'] === false || uv?.package === false) return false
  return [settings.project, settings['build-system'], poetry].some((table) => table !== undefined)
}
