import { z } from 'zod'
import { ShellCommand } from './setup.ts'

/**
 * The run's own gate: a command, such as the repository's tests, that must not get worse by what the run changes. It runs in the
 * sandbox, on the snapshot and on the snapshot with the changes.
 */
export const GateRequest = z.strictObject({
  command: ShellCommand,
  /** How often the original is tested first: a test that does not pass each time convicts no change. */
  runs: z.int().min(1).max(10).default(2),
  /** The most runs of the command, and the most seconds of all of them; what is not proved by then is left out. */
  maxRuns: z.int().min(3).max(10_000).default(200),
  limitS: z.number().positive().max(86_400).default(1_800),
})
export type GateRequest = z.infer<typeof GateRequest>

/**
 * What the gate found. `passed`: what passed on the original passes with the changes of the patch, of which the culprits are left out.
 * `unproved`: it could not judge what is in the patch. Lists hold the first 50 names.
 */
export const GateReport = z.strictObject({
  command: z.string(),
  verdict: z.enum(['passed', 'unproved']),
  /** Why it could not judge, or why it ended early. */
  reason: z.string().optional(),
  /** Tests of the original that pass each time; null where the command does not name its tests and its exit code counts. */
  tests: z.int().nullable(),
  /** Tests of the original that do not pass each time. */
  failing: z.array(z.string()),
  failingTotal: z.int(),
  runs: z.int(),
  durationMs: z.number(),
  /** How many change sets it left out, as culprits or unproved. */
  leftOut: z.int(),
})
export type GateReport = z.infer<typeof GateReport>
