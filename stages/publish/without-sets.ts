import { changedFiles } from '#store/objects/composition.ts'
import type { Publishable } from './read-publishable.ts'

/** Says why what a gate has found says nothing of what is left. */
export const gateOfMore = 'change sets were left out after it had run'

/** Leaves out these sets, what is built on them, and what changes a file of theirs: a file was proved with all of its sets. */
export function withoutSets<Source extends Pick<Publishable, 'composition' | 'sets'>>(
  source: Source,
  without: readonly string[],
): Source {
  if (without.length === 0) return source
  const { composition, sets } = source
  const files = changedFiles(composition)
  const out = new Set(without)
  const links = [
    ...files.map(({ changeSetIds }) => ({ ids: changeSetIds, of: changeSetIds })),
    ...Array.from(sets.values(), ({ changeSetId, builtOn = [] }) => ({ ids: [changeSetId], of: builtOn })),
  ]
  for (let before = -1; before < out.size;) {
    before = out.size
    for (const { ids, of } of links) if (of.some((id) => out.has(id))) for (const id of ids) out.add(id)
  }
  const { gate } = composition
  const left = files.filter(({ changeSetIds }) => !changeSetIds.some((id) => out.has(id)))
  const unproved = gate && { gate: { ...gate, verdict: 'unproved' as const, reason: gateOfMore } }
  return { ...source, composition: { ...composition, files: left, ...unproved } }
}
