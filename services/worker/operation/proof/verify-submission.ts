import type { Submission } from '#domain/turn.ts'
import type { Verification } from '../../agent/submit.ts'
import { evidenceFault } from './evidence-fault.ts'
import type { Proof } from './prove-changes.ts'
import { unchangedClaims } from './unchanged-claims.ts'

/**
 * A claimed success against the workspace and the evidence its bundle asks for. What is proved of the change counts for
 * more than what was said of it, and so does that there is none.
 */
export function verifySubmission({ changedFiles }: Pick<Submission, 'changedFiles'>, proof: Proof): Verification {
  const changed = [...new Set(proof.changes.map(({ path }) => path))]
  const claimedUnchanged = unchangedClaims(changedFiles, changed)
  const unproved = evidenceFault(proof.evidence)
  if (claimedUnchanged.length === 0) return unproved === undefined ? { kind: 'holds' } : { kind: 'fails', ...unproved }
  const overstated = overstatement(claimedUnchanged, changed)
  if (unproved !== undefined) return { kind: 'fails', ...unproved, reason: `${unproved.reason}; ${overstated}` }
  return { kind: 'overstates', reason: overstated, claimedUnchanged }
}

const shownPaths = 10

function overstatement(unchanged: readonly string[], changed: readonly string[]): string {
  const real = changed.length === 0 ? 'nothing was changed' : `changed: ${listed(changed)}`
  return `changed_files names ${listed(unchanged)}, not changed here (${real})`
}

function listed(paths: readonly string[]): string {
  const more = paths.length > shownPaths ? [`${paths.length - shownPaths} more`] : []
  return [...paths.slice(0, shownPaths).map((path) => path.slice(0, 200)), ...more].join(', ')
}
