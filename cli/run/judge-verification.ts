import { plural } from '../plural.ts'

/** What was found of a run; `ended`: whether it had, before anything was looked at. */
export type FoundOfRun = {
  ended: boolean
  violations: readonly { invariant: number; message: string }[]
  events: number
  operations: number
}

const underWay = 'the run has not ended, so only what holds at every moment is checked: verify it again when it has'
/** Events without a gap, and objects that are there: what work that goes on cannot seem to break. */
const alwaysHold: readonly number[] = [1, 7]

/**
 * What counts of a verification. The state of a run is read in pages: while it is worked on, they are of different
 * moments and differ, and only what holds at every moment is judged.
 */
export function judgeVerification(found: FoundOfRun): FoundOfRun {
  if (found.ended) return found
  return { ...found, violations: found.violations.filter(({ invariant }) => alwaysHold.includes(invariant)) }
}

/** A verification that was judged, for a person. */
export function describeVerification(runId: string, { ended, violations, events, operations }: FoundOfRun): string {
  const head = `${runId}: ${plural(events, 'event')}, ${plural(operations, 'operation')}, `
  const judged = ended ? 'invariants 1 to 8' : 'invariants 1 and 7'
  const verdict = violations.length === 0 ? `no violation of ${judged}` : plural(violations.length, 'violation')
  const lines = violations.map(({ invariant, message }) => `  ${invariant}: ${message}`)
  return `${[...(ended ? [] : [underWay]), `${head}${verdict}`, ...lines].join('\n')}\n`
}
