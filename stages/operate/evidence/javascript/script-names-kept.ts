import type { CheckResult } from '../python-facts.ts'
import type { ScriptBinding, ScriptImport, ScriptNames } from './script-bindings.ts'

type Compared = { before: ScriptNames; after: ScriptNames }

/** Finds an export, function, class, type or member that is gone, and in a page's script any variable of its top level, which others see. */
export function scriptNamesKept({ before, after }: Compared): CheckResult {
  const figures = { before: before.bindings.length, after: after.bindings.length }
  const left = new Set(after.bindings.map(keyOf))
  const isLost = (one: ScriptBinding) => {
    const isVariable = one.kind === 'variable' || one.kind === 'constant'
    if (left.has(keyOf(one)) || (isVariable && before.isModule)) return false
    return one.kind !== 'constant' || !left.has(`variable ${one.name}`)
  }
  const lost = before.bindings.find(isLost)
  if (lost === undefined) return { ...figures, fault: undefined }
  const isConstant = lost.kind === 'variable' && left.has(`constant ${lost.name}`)
  const problem = isConstant ? 'became a constant, which another script may assign' : `is gone; ${reasonFor(lost)}`
  return { ...figures, fault: `line ${lost.line}: ${JSON.stringify(lost.name)} ${problem}` }
}

function keyOf({ kind, name }: ScriptBinding): string {
  return `${kind} ${name}`
}

function reasonFor({ kind }: ScriptBinding): string {
  if (kind === 'export') return 'it was exported'
  return kind === 'member' ? 'its class had it' : 'it was defined here'
}

/** Finds modules not loaded any more or in another order, and used names not imported. TypeScript loads nothing for types and unused names. */
export function scriptImportsKept({ before, after }: Compared, { isTyped }: { isTyped: boolean }): CheckResult {
  const figures = { before: before.imports.length, after: after.imports.length }
  const left = new Set(after.imports.map(importKey))
  const lost = before.imports.find(
    (one) => !left.has(importKey(one)) && (one.name === undefined || after.uses.has(one.name)),
  )
  if (lost !== undefined)
    return { ...figures, fault: `line ${lost.line}: the import of ${shown(lost)} is gone, and is still needed` }
  const needless = new Set(before.loads.filter((module) => isTyped && isElided(module, before)))
  const loads = before.loads.filter((module) => !needless.has(module))
  const loaded = after.loads.filter((module) => !needless.has(module))
  const unloaded = loads.find((module) => !loaded.includes(module))
  if (unloaded !== undefined)
    return {
      ...figures,
      fault: `the module ${JSON.stringify(unloaded)} is not loaded any more, which may be needed for its effect`,
    }
  const firsts = (all: readonly string[]) => [...new Set(all)].filter((module) => loads.includes(module))
  const isSameOrder = firsts(loads).every((module, at) => firsts(loaded)[at] === module)
  return { ...figures, fault: isSameOrder ? undefined : 'modules are loaded in another order' }
}

/** Whether only imports load it of which the compiler makes nothing: nothing uses their names, or what they import is a type. */
function isElided(module: string, { imports, loads, uses }: ScriptNames): boolean {
  const own = imports.filter((one) => one.module === module)
  const isLoadedOtherwise = loads.filter((one) => one === module).length > new Set(own.map(({ line }) => line)).size
  return !isLoadedOtherwise && own.every(({ name, isType }) => name !== undefined && (isType || !uses.has(name)))
}

function importKey({ module, imported, name }: ScriptImport): string {
  return JSON.stringify([module, imported ?? null, name ?? null])
}

function shown({ module, name }: ScriptImport): string {
  return name === undefined ? JSON.stringify(module) : `"${name}" from ${JSON.stringify(module)}`
}
