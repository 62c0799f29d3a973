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
  const asked = namesAsked(found)
  const placed = new Map<string, Reference>()
  let next = 0
  let inner = -1
  for (const reference of withoutRepeats(found)) {
    const { at, kind, name, module, alias, receiver, type, value } = reference
    while ((definitions[next]?.start ?? Infinity) <= at) inner = next++
    while (inner >= 0 && (definitions[inner]?.end ?? 0) <= at) inner = definitions[inner]?.parent ?? -1
    if (kind === 'local' && !isAsked(reference, asked)) continue
    const from = isExport(reference) ? 0 : inner + 1
    const key = `${from}\0${kind}\0${name}\0${module}\0${alias}\0${receiver}\0${type}\0${value}`
    if (!placed.has(key)) placed.set(key, placedAt(from, reference))
  }
  return [...placed.values()]
}

function placedAt(from: number, { at: _, ...reference }: FoundReference): Reference {
  return { ...reference, from }
}

/** `export default` stands within what it exports, and speaks for the file. */
function isExport({ kind, module }: FoundReference): boolean {
  return kind === 'import' && module === undefined
}

/** In source order. Several patterns may match one name; the one that knows most of it counts. */
function withoutRepeats(found: readonly FoundReference[]): FoundReference[] {
  const kept: FoundReference[] = []
  for (const one of found.toSorted((a, b) => a.at - b.at)) {
    const repeated = placeOfSame(one, kept)
    const known = kept[repeated]
    if (known === undefined) kept.push(one)
    else if (Object.keys(one).length > Object.keys(known).length) kept[repeated] = one
  }
  return kept
}

/** Among the last of `kept`, which stand where this one stands; -1 when it is new. */
function placeOfSame({ at, kind, name }: FoundReference, kept: readonly FoundReference[]): number {
  for (let index = kept.length - 1; kept[index]?.at === at; index--) {
    const other = kept[index]
    if (other?.kind === kind && other.name === name) return index
  }
  return -1
}

function namesAsked(found: readonly FoundReference[]): Set<string> {
  const asked = new Set<string>()
  for (const { kind, name, receiver, type, value } of found) {
    if (kind !== 'local') addNames(name, asked)
    for (const path of [receiver, type, value]) if (path !== undefined) addNames(path, asked)
  }
  return asked
}

function addNames(path: string, names: Set<string>): void {
  if (/[.()]/.test(path)) for (const name of path.split(/[.()]+/)) names.add(name)
  else names.add(path)
}

function isAsked({ name, type, value }: FoundReference, asked: ReadonlySet<string>): boolean {
  const last = name.slice(name.lastIndexOf('.') + 1)
  if (name === '()' || name.includes('.')) return (type ?? value) !== undefined && (name === '()' || asked.has(last))
  return asked.has(name)
}
