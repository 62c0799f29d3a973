import { foldKeptNames } from '#languages/python/kept-names.ts'
import { moduleItself, type ModuleUses } from '#languages/python/module-uses.ts'

/** Says what a changed Python file bound before, and what it uses and binds now; undefined where the file does not exist. */
export type ComposedModule = { path: string; before: readonly string[] | undefined; after: ModuleUses | undefined }

/** A name that the file `user` uses of the file at `path`, which no longer binds it; `moduleItself`: the file is gone. */
export type LostName = { path: string; user: string; name: string }

/** Names in words what is used. */
export function wordsFor({ name, path }: LostName): string {
  return name === moduleItself ? path : `"${name}" of ${path}`
}

/** Finds a name that a module no longer binds and another changed file uses; for unchanged files there is `PathRules.keptNames`. */
export function lostNameIn(modules: readonly ComposedModule[]): LostName | undefined {
  const taken = takenNames(modules)
  for (const module of modules) {
    const lost = lostOf(module, taken(module.path))
    const [name] = lost
    if (name === undefined) continue
    const isUser = (other: ComposedModule) => lostOf(module, takenNames([module, other])(module.path)).includes(name)
    const user = modules.find((candidate) => candidate.path !== module.path && isUser(candidate))
    if (user !== undefined) return { path: module.path, user: user.path, name }
  }
  return undefined
}

function lostOf({ before, after }: ComposedModule, taken: 'all' | string[]): string[] {
  if (before === undefined) return []
  const bound = new Set(after === undefined ? [] : [...after.binds, moduleItself])
  const names = taken === 'all' ? [...before, moduleItself] : taken
  return names.filter((name) => !bound.has(name))
}

function takenNames(modules: readonly ComposedModule[]): (path: string) => 'all' | string[] {
  const uses = modules.map(({ path, before, after }): [string, ModuleUses] => {
    const { modules: taken, packages } = after ?? { modules: {}, packages: {} }
    return [path, { modules: taken, packages, binds: [...(before ?? [])], exported: [] }]
  })
  return foldKeptNames(new Map(uses))
}
