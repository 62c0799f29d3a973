import type { ItemId } from '#domain/agenda.ts'
import { proofOf } from '#domain/change-set.ts'
import { originalId } from '#domain/operation.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Composition, MadeSets } from '#store/objects/composition.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { Collected } from './collect-changes.ts'

/** Lists, by agent, the sets that a run has made, and what became of each in the composition. */
export function madeIn(
  { changes, unproved }: Pick<Collected, 'changes' | 'unproved'>,
  conflicts: Composition['conflicts'],
  { byChangeSet }: Pick<Decisions, 'byChangeSet'>,
): MadeSets[] {
  const leftOut = new Map(conflicts.map((conflict) => [conflict.changeSetId, conflict]))
  const current = new Set(changes.flatMap(({ set, isRedone }) => (isRedone ? [] : set.changeSetId)))
  const placeOf = (id: string): MadeSets['sets'][number]['place'] => {
    const conflict = leftOut.get(id)
    const isBroken = conflict !== undefined && (conflict.byItself || byChangeSet.get(id)?.verdict === 'accepted')
    if (isBroken) return 'broken'
    if (!current.has(id)) return 'made again'
    return conflict === undefined ? 'sound' : 'left out'
  }
  const made = new Map<string, MadeSets>()
  const of = (agent: string) => getOrMake(made, agent, () => ({ agent, failed: unproved.get(agent) ?? 0, sets: [] }))
  for (const agent of unproved.keys()) of(agent)
  const seen = new Set<string>()
  for (const { set } of changes) {
    const { changeSetId: id } = set
    if (!seen.has(id)) of(set.bundle).sets.push({ id, place: placeOf(id), proved: proofOf(set) === 'passed' })
    seen.add(id)
  }
  return [...made.values()]
}

/** Counts, by item of the agenda, the sets of it that are sound. Work that was done once more since it collided is still that of its item. */
export function keptOfItems(
  { changes }: Pick<Collected, 'changes'>,
  made: readonly MadeSets[],
): NonNullable<Composition['keptOfItems']> {
  const sound = new Set(made.flatMap(({ sets }) => sets.flatMap(({ id, place }) => (place === 'sound' ? [id] : []))))
  const kept = new Map<ItemId, Set<string>>()
  const itemOf = new Map<string, ItemId>()
  for (const { set, operation } of changes) {
    const work = originalId(operation)
    const item = operation.itemId ?? itemOf.get(work)
    if (item === undefined) continue
    itemOf.set(work, item)
    if (sound.has(set.changeSetId)) getOrMake(kept, item, () => new Set()).add(set.changeSetId)
  }
  return Object.fromEntries([...kept].map(([item, ids]) => [item, ids.size]))
}
