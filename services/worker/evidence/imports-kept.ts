import type { ImportedHere } from '#python/import-facts.ts'
import type { ComparedFacts, Finding, ImportingFile } from './python-facts.ts'

/**
 * The imports that must stay whether or not the file uses them are there: as many times, in the same blocks
 * (`#python/import-facts.ts` says which, and why).
 */
export function importsKept({ before, after }: ComparedFacts, file: ImportingFile): Finding {
  const [was, now] = [before.importFacts(file), after.imports()]
  const figures = { before: was.length, after: now.length }
  const left = new Map<string, number>()
  for (const fact of now) left.set(keyOf(fact), (left.get(keyOf(fact)) ?? 0) + 1)
  for (const fact of was) {
    if (fact.stays === undefined) continue
    const count = left.get(keyOf(fact)) ?? 0
    if (count === 0)
      return { ...figures, fault: `line ${fact.line}: the import of "${shown(fact)}" is gone; ${fact.stays}` }
    left.set(keyOf(fact), count - 1)
  }
  return { ...figures, fault: undefined }
}

/** What is imported as what, and where: an import that has left its `try` is another one. */
function keyOf({ module, imported, name, scope }: ImportedHere): string {
  return JSON.stringify([module, imported ?? null, name, scope])
}

function shown({ module, imported, name }: ImportedHere): string {
  return imported === undefined || imported === '*' ? module : name
}
