import { z } from 'zod'
import { RepoPath } from './repo-path.ts'
import { camelKeys, snakeKeys } from './wire-keys.ts'

/** Says how bad a finding is, in SARIF's words. */
export const FindingSeverity = z.enum(['error', 'warning', 'note'])
export type FindingSeverity = z.infer<typeof FindingSeverity>

export const maxClaimCharacters = 1_000
/** A finding shows nothing of a longer line: what is left of a secret that is cut would not be recognised. */
export const maxLineCharacters = 200

const Line = z.int().min(1)

/**
 * Holds what an agent claims about some lines of a file. Both exist in the file as the attempt had it when it reported them: that
 * of the snapshot where neither it nor the operations that it started from had changed the file. Lines count from 1, both included.
 */
export const CodeFinding = z.strictObject({
  claim: z.string().min(1).max(maxClaimCharacters),
  path: RepoPath,
  line: Line,
  endLine: Line,
  /** Holds the first line without indentation; empty where that is longer. */
  lineText: z.string().max(maxLineCharacters),
  severity: FindingSeverity,
  /** Is 0 to 1, as the agent says it. */
  confidence: z.number().min(0).max(1),
  rule: z
    .string()
    .regex(/^[A-Za-z0-9][\w./-]{0,63}$/)
    .nullable(),
})
export type CodeFinding = z.infer<typeof CodeFinding>

/** Writes `src/shop.py:12-14`. */
export function placeOf({ path, line, endLine }: Pick<CodeFinding, 'path' | 'line' | 'endLine'>): string {
  return endLine === line ? `${path}:${line}` : `${path}:${line}-${endLine}`
}

export function wireFinding(finding: CodeFinding) {
  return snakeKeys(finding)
}

export const WireFinding = z
  .object(snakeKeys(CodeFinding.shape))
  .transform((finding): CodeFinding => camelKeys(finding))

/** Findings of the same key say the same about the same lines. */
export function findingKey({ claim, ...location }: Pick<CodeFinding, 'claim' | 'path' | 'line' | 'endLine'>): string {
  return `${placeOf(location)} ${claim.toLowerCase().replaceAll(/\s+/g, ' ').trim()}`
}
