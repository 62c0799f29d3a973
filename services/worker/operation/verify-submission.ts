import { parseRepoPath } from '#domain/repo-path.ts'
import type { Submission } from '#domain/turn.ts'
import type { Verification } from '../agent/submit.ts'
import { evidenceFault } from './evidence-fault.ts'
import type { Proof } from './prove-changes.ts'

/**
 * A claimed success against the workspace and the evidence its bundle asks for. What is proved of the change counts for
 * more than what was said of it.
 */
export function verifySubmission({ changedFiles }: Pick<Submission, 'changedFiles'>, proof: Proof): Verification {
  const changed = new Set(proof.changes.map(({ path }) => path))
  const claimedUnchanged = [...new Set(changedFiles.map(normalPath))].filter((path) => !changed.has(path))
  const unproved = evidenceFault(proof.evidence)
  if (claimedUnchanged.length === 0) return unproved === undefined ? { kind: 'holds' } : { kind: 'fails', ...unproved }
  const overstated = overstatement(claimedUnchanged, [...changed])
  if (unproved !== undefined) return { kind: 'fails', ...unproved, reason: `${unproved.reason}; ${overstated}` }
  if (changed.size === 0) return { kind: 'fails', code: 'AGENT_005', reason: overstated }
  return { kind: 'overstates', reason: overstated, claimedUnchanged }
}

/** As the workspace names it; what is no path inside it stays as it is, and was not changed. */
function normalPath(raw: string): string {
  try {
    return parseRepoPath(raw, 'TOOL_007')
  } catch {
    return raw
  }
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
