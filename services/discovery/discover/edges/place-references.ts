import type { FoundReference } from './find-references.ts'
import type { Reference } from './reference.ts'

/**
 * Places references in their innermost definitions: `definitions` are in source order, outer before inner, and node 0 of
 * the index is the file. The same said twice in a node is said once; names that nothing asks for are left out.
 */
export function placeReferences(
  found: readonly FoundReference[],
  definitions: readonly { start: number; end: number; parent: number | null }[],
): Reference[] {
  const asked = new Set(found.flatMap(namesAsked))
  const placed = new Map<string, Reference>()
  let next = 0
  let inner = -1
  for (const { at, ...reference } of withoutRepeats(found).toSorted((a, b) => a.at - b.at)) {
    while ((definitions[next]?.start ?? Infinity) <= at) inner = next++
    while (inner >= 0 && (definitions[inner]?.end ?? 0) <= at) inner = definitions[inner]?.parent ?? -1
    if (reference.kind === 'local' && !isAsked(reference, asked)) continue
    const here = { ...reference, from: isExport(reference) ? 0 : inner + 1 }
    placed.set(JSON.stringify(here), here)
  }
  return [...placed.values()]
}

/** `export default` stands within what it exports, and speaks for the file. */
function isExport({ kind, module }: Omit<Reference, 'from'>): boolean {
  return kind === 'import' && module === undefined
}

/** Several patterns may match one name; the one that knows most of it counts. */
function withoutRepeats(found: readonly FoundReference[]): FoundReference[] {
  const best = new Map<string, FoundReference>()
  for (const one of found) {
    const key = `${one.kind} ${one.at} ${one.name}`
    const known = best.get(key)
    if (known === undefined || Object.keys(one).length > Object.keys(known).length) best.set(key, one)
  }
  return [...best.values()]
}

function namesAsked({ kind, name, receiver, type, value }: FoundReference): string[] {
  return [kind === 'local' ? '' : name, receiver, type, value].flatMap((path) => path?.split(/[.()]+/) ?? [])
}

function isAsked({ name, type, value }: Omit<Reference, 'from'>, asked: ReadonlySet<string>): boolean {
  const last = name.split('.').at(-1) ?? ''
  if (name === '()' || name.includes('.')) return (type ?? value) !== undefined && (name === '()' || asked.has(last))
  return asked.has(name)
}
