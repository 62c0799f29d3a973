import { foldKeptNames } from '#python/kept-names.ts'
import type { ModuleUses } from '#python/module-uses.ts'

/** A Python file of the composed tree: what its module was before, and what it is now; undefined where there is none. */
export type ComposedModule = { path: string; before: ModuleUses | undefined; after: ModuleUses | undefined }

/** A name that one changed file of the tree takes of another, which binds it no more. */
export type LostName = { path: string; user: string; name: string }

/**
 * The first name that a module bound before, binds no more, and that another of the changed files takes as it is now. What the
 * unchanged files of the snapshot take is known of each file alone (`PathRules.keptNames`).
 */
export function lostNameIn(modules: readonly ComposedModule[]): LostName | undefined {
  const taken = takenNames(modules)
  for (const module of modules) {
    const lost = lostOf(module, taken(module.path))
    const [name] = lost
    if (name === undefined) continue
    const isUser = (other: ComposedModule) => lostOf(module, takenNames([module, other])(module.path)).includes(name)
    const user = modules.find((other) => other.path !== module.path && isUser(other))
    if (user !== undefined) return { path: module.path, user: user.path, name }
  }
  return undefined
}

function lostOf({ before, after }: ComposedModule, taken: 'all' | string[]): string[] {
  const bound = new Set(after?.binds)
  const names = taken === 'all' ? (before?.binds ?? []) : taken
  return names.filter((name) => !bound.has(name))
}

/** Of each module, the names it had before that other changed files take now. */
function takenNames(modules: readonly ComposedModule[]): (path: string) => 'all' | string[] {
  const uses = modules.map(({ path, before, after }): [string, ModuleUses] => {
    const { modules: taken, packages } = after ?? { modules: {}, packages: {} }
    return [path, { modules: taken, packages, binds: before?.binds ?? [], exported: [] }]
  })
  return foldKeptNames(new Map(uses))
}
