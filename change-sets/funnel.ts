import type { Verdict } from '#domain/decision.ts'
import type { Run } from '#domain/run.ts'
import type { Composition, MadeSets } from '#store/objects/composition.ts'

/**
 * Counts what became of an agent's change sets; each number is some of the one before. `generated`: made, and not made again since unless
 * accepted, or failed. `valid`: can be in a patch. `verified`: every check has passed. `acceptedUnverified`: accepted, not verified.
 */
export type AgentFunnel = {
  agent: string
  generated: number
  valid: number
  verified: number
  accepted: number
  acceptedUnverified: number
  rejected: number
}

/** Counts the funnel of each agent under these verdicts, in the order of the agents' names. */
export function countFunnel(
  made: NonNullable<Composition['made']>,
  verdictOn: (changeSetId: string) => Verdict,
): AgentFunnel[] {
  return made.toSorted((left, right) => (left.agent < right.agent ? -1 : 1)).map((group) => funnelOf(group, verdictOn))
}

function funnelOf({ agent, failed, sets }: MadeSets, verdictOn: (changeSetId: string) => Verdict): AgentFunnel {
  const counts = { generated: failed, valid: 0, verified: 0, accepted: 0, acceptedUnverified: 0, rejected: 0 }
  for (const { id, place, proved } of sets) {
    const verdict = verdictOn(id)
    const isAccepted = verdict === 'accepted'
    if (place === 'made again' && !isAccepted) continue
    counts.generated += 1
    if (verdict === 'rejected') counts.rejected += 1
    // What gave way to another set, or was made again, can be in a patch only if somebody wants it instead.
    const isValid = place === 'sound' || (isAccepted && place !== 'broken')
    if (isValid) counts.valid += 1
    if (isValid && proved) counts.verified += 1
    if (isAccepted) counts[isValid && proved ? 'accepted' : 'acceptedUnverified'] += 1
  }
  return { agent, ...counts }
}

/** Counts the change sets of each agent that are in a merged pull request of the run. */
export function countMerged(
  made: NonNullable<Composition['made']>,
  { publication }: Pick<Run, 'publication'>,
): ReadonlyMap<string, number> {
  const pulls = publication?.pulls ?? []
  const merged = new Set(pulls.flatMap(({ state, changeSetIds }) => (state === 'merged' ? changeSetIds : [])))
  return new Map(made.map(({ agent, sets }) => [agent, sets.filter(({ id }) => merged.has(id)).length]))
}
