import type { PathRules } from '#domain/path-rules.ts'
import type { Binding, ModuleBindings } from '#python/module-bindings.ts'
import type { ComparedFacts, Finding } from './python-facts.ts'

/**
 * What others may use of the module is still bound: names other files of the repository take (`keptNames`), what `__all__` lists,
 * every function and class, every public name that is no import, and all that a class binds in its body.
 */
export function namesKept({ before, after }: ComparedFacts, { keptNames }: Pick<PathRules, 'keptNames'>): Finding {
  const [was, now] = [before.names(), after.names()]
  const figures = { before: was.bindings.length, after: now.bindings.length }
  const bound = new Set(now.bindings.map(keyOf))
  const isKept = keeperOf(was, keptNames)
  const lost = was.bindings.find((binding) => !bound.has(keyOf(binding)) && isKept(binding) !== undefined)
  if (lost !== undefined) {
    const name = lost.scope === '' ? lost.name : `${lost.scope}.${lost.name}`
    return { ...figures, fault: `line ${lost.line}: "${name}" is gone; ${isKept(lost)}` }
  }
  const listed = new Set(now.exported)
  const unlisted = was.exported?.find((name) => !listed.has(name))
  return { ...figures, fault: unlisted === undefined ? undefined : `__all__ does not list "${unlisted}" any more` }
}

/** Why a name has to stay; undefined for one that may go. */
function keeperOf(was: ModuleBindings, keptNames: PathRules['keptNames']): (binding: Binding) => string | undefined {
  const taken = new Set(keptNames === 'all' ? [] : keptNames)
  const exported = new Set(was.exported)
  return ({ scope, name, kind }) => {
    if (scope !== '') return 'a class had it'
    if (taken.has(name)) return 'other files use it'
    if (exported.has(name)) return '__all__ lists it'
    if (keptNames === 'all') return 'other files use everything of this module'
    if (kind === 'function' || kind === 'class') return 'it was defined here'
    return kind === 'variable' && !name.startsWith('_') ? 'it is a public name' : undefined
  }
}

function keyOf({ scope, name }: Binding): string {
  return `${scope}:${name}`
}
