import { z } from 'zod'
import { ShellCommand } from './setup.ts'

/** Settings of the environment and another folder, which may stand before a gate's program. */
export const settingsBefore = /^(?:cd\s+[\w./-]+\s*&&\s*)?(?:[A-Za-z_]\w*=[\w./:,@%+-]*\s+)*/

/** A command that must not get worse by what the run changes. It runs in the sandbox, on the snapshot without and with the changes. */
export const GateRequest = z.strictObject({
  command: ShellCommand,
  /** Counts the runs on the original, which come first: a test that does not pass each time convicts no change. */
  runs: z.int().min(1).max(10).default(2),
  /** The most runs of the command, and the most seconds of all of them; what is not proved by then is left out. */
  maxRuns: z.int().min(3).max(10_000).default(200),
  limitS: z.number().positive().max(86_400).default(1_800),
})
export type GateRequest = z.infer<typeof GateRequest>

/** So many runs are kept, and so many characters of the end of what each wrote. */
export const keptOutputs = { runs: 50, characters: 1_000 } as const

/** One run of a gate's command, with the end of what it wrote. `changeSets`: how many it ran with; 0: on the original. */
const GateRun = z.strictObject({ changeSets: z.int(), ending: z.string(), output: z.string() })
export type GateRun = z.infer<typeof GateRun>

/** Says what the gate found. `unproved`: it could not judge what is in the patch. Lists hold the first 50 names. */
export const GateReport = z.strictObject({
  command: z.string(),
  verdict: z.enum(['passed', 'unproved']),
  reason: z.string().optional(),
  /** Tests of the original that pass each time; null where the command does not name its tests and its exit code counts. */
  tests: z.int().nullable(),
  /** Tests of the original that do not pass each time. */
  failing: z.array(z.string()),
  failingTotal: z.int(),
  runs: z.int(),
  outputs: z.array(GateRun),
  durationMs: z.number(),
  /** Counts the change sets that it left out, as culprits or unproved. */
  leftOut: z.int(),
})
export type GateReport = z.infer<typeof GateReport>
