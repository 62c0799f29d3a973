import type { PathRules } from '#domain/path-rules.ts'
import type { Binding, ModuleBindings } from '#languages/python/module-bindings.ts'
import type { ImportedHere } from '#languages/python/import-facts.ts'
import type { ComparedFacts, CheckResult, ImportingFile } from './python-facts.ts'

/** Finds names that others may use and that are no longer bound: those in `keptNames` or `__all__`, functions, classes, public names, members. */
export function namesKept(
  { before, after, isPart }: ComparedFacts,
  { keptNames }: Pick<PathRules, 'keptNames'>,
): CheckResult {
  const [was, now] = [before.names(), after.names()]
  const figures = { before: was.bindings.length, after: now.bindings.length }
  const bound = new Set(now.bindings.map(bindingKey))
  const isKept = isPart ? () => 'others may use it' : keeperOf(was, keptNames)
  const lost = was.bindings.find((binding) => !bound.has(bindingKey(binding)) && isKept(binding) !== undefined)
  if (lost !== undefined) {
    const name = lost.scope === '' ? lost.name : `${lost.scope}.${lost.name}`
    return { ...figures, fault: `line ${lost.line}: "${name}" is gone; ${isKept(lost)}` }
  }
  const listed = new Set(now.exported)
  const unlisted = was.exported?.find((name) => !listed.has(name))
  return { ...figures, fault: unlisted === undefined ? undefined : `__all__ does not list "${unlisted}" any more` }
}

/** Returns why a name has to stay; undefined for one that may be removed. */
function keeperOf(was: ModuleBindings, keptNames: PathRules['keptNames']): (binding: Binding) => string | undefined {
  const taken = new Set(keptNames === 'all' ? [] : keptNames)
  const exported = new Set(was.exported)
  return ({ scope, name, kind }) => {
    if (scope !== '') return 'a class had it'
    if (taken.has(name)) return 'others may use it'
    if (exported.has(name)) return '__all__ lists it'
    if (keptNames === 'all') return 'other files use everything of this module'
    if (kind === 'function' || kind === 'class') return 'it was defined here'
    return kind === 'variable' && !name.startsWith('_') ? 'it is a public name' : undefined
  }
}

function bindingKey({ scope, name }: Binding): string {
  return `${scope}:${name}`
}

/** The imports that must stay (`ImportFact.stays`) are still there, as many times and in the same blocks. */
export function neededImportsKept({ before, after, isPart }: ComparedFacts, file: ImportingFile): CheckResult {
  const [was, now] = [before.imports(), after.imports()]
  const figures = { before: was.length, after: now.length }
  const goneFrom = <Fact extends ImportedHere>(facts: readonly Fact[]) => {
    const left = Map.groupBy(now, importKey)
    return facts.find((fact) => left.get(importKey(fact))?.pop() === undefined)
  }
  if (goneFrom(was) === undefined) return { ...figures, fault: undefined }
  if (isPart) return { ...figures, fault: 'an import is gone' }
  const lost = goneFrom(before.importFacts(file).filter(({ stays }) => stays !== undefined))
  return { ...figures, fault: lost && `line ${lost.line}: the import of "${shown(lost)}" is gone; ${lost.stays}` }
}

/** Includes the scope: an import that is moved out of its `try` is another one. */
function importKey({ module, imported, name, scope }: ImportedHere): string {
  return JSON.stringify([module, imported ?? null, name, scope])
}

function shown({ module, imported, name }: ImportedHere): string {
  return imported === undefined || imported === '*' ? module : name
}
