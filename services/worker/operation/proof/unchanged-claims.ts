import { parseRepoPath } from '#domain/repo-path.ts'

/**
 * Which of the files that a model says it changed it did not, in the words it named them by. `changed` are the paths that
 * were. Models name a file as a diff does, from the root of some machine, or by its last part: that is the file, when it
 * can be only one.
 */
export function unchangedClaims(claims: readonly string[], changed: readonly string[]): string[] {
  return [...new Set(claims.map(normalPath))].filter((claim) => !isOneOf(claim, changed))
}

function isOneOf(claim: string, changed: readonly string[]): boolean {
  if (changed.includes(claim) || changed.includes(claim.replace(/^[ab]\//, ''))) return true
  if (isAbsolute(claim)) return changed.some((path) => claim.endsWith(`/${path}`))
  return changed.filter((path) => path.endsWith(`/${claim}`)).length === 1
}

function isAbsolute(path: string): boolean {
  return /^(?:[a-z]:)?\//i.test(path)
}

/** As the workspace names it; what is no path inside it stays as it is. */
function normalPath(raw: string): string {
  const slashed = raw.trim().replaceAll('\\', '/')
  try {
    return parseRepoPath(slashed, 'TOOL_007')
  } catch {
    return slashed
  }
}
