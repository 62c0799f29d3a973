import type { Submission } from '#domain/turn.ts'
import { parseRepoPath } from '#domain/repo-path.ts'
import type { Verification } from '../agent/submission.ts'
import { evidenceFault, type Proof } from './prove-changes.ts'

/** Checks a claimed success: what was proved about the changes, or that there are none, counts for more than what the submission says. */
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

/** Lists files claimed and not changed. Models name one as in a diff (`a/…`), by an absolute path, or by the end of its path where only one fits. */
export function unchangedClaims(claims: readonly string[], changed: readonly string[]): string[] {
  return [...new Set(claims.map(normalPath))].filter((claim) => !isOneOf(claim, changed))
}

function isOneOf(claim: string, changed: readonly string[]): boolean {
  if (changed.includes(claim) || changed.includes(claim.replace(/^[ab]\//, ''))) return true
  const isAbsolute = /^(?:[a-z]:)?\//i.test(claim)
  if (isAbsolute) return changed.some((path) => claim.endsWith(`/${path}`))
  return changed.filter((path) => path.endsWith(`/${claim}`)).length === 1
}

function normalPath(raw: string): string {
  const slashed = raw.trim().replaceAll('\\', '/')
  try {
    return parseRepoPath(slashed, 'TOOL_007')
  } catch {
    return slashed
  }
}
