import { z } from 'zod'
import { GateReport, GateRequest } from '#domain/gate.ts'

/** A gate as callers ask for it. */
export const GateShape = z
  .strictObject({
    command: GateRequest.shape.command.meta({
      description: 'for a shell, in the top folder of the repository, for example `python3 -m pytest -q`',
    }),
    runs: GateRequest.shape.runs.meta({
      description: 'how often the original is tested first: a test that does not pass each time convicts no change',
    }),
    max_runs: GateRequest.shape.maxRuns.meta({ description: 'the most runs of the command' }),
    limit_s: GateRequest.shape.limitS.meta({ description: 'the most seconds of all runs together' }),
  })
  .refine(({ runs, max_runs: most }) => runs < most, { path: ['max_runs'], message: 'must be more than runs' })
  .meta({
    id: 'Gate',
    description:
      'a command that must not get worse by what the run changes, such as the tests. It runs in the sandbox of a worker, on the snapshot and on the snapshot with the changes; change sets with which something fails that passed before are left out (WORK_007), and so is what is not proved when it may run no more',
  })
export type GateShape = z.infer<typeof GateShape>

const GateOutput = z
  .strictObject({ change_sets: z.int(), ending: z.string(), output: z.string() })
  .meta({ id: 'GateOutput' })

export const GateView = z
  .strictObject({
    command: z.string(),
    verdict: GateReport.shape.verdict.meta({
      id: 'GateVerdict',
      description:
        'passed: what passed on the original passes with the changes of the patch. unproved: it could not judge what is in the patch',
    }),
    reason: z.string().optional(),
    tests: z.int().nullable().meta({
      description:
        'tests of the original that pass each time; null where the command does not name its tests, and its exit code counts',
    }),
    failing: z.array(z.string()).meta({ description: 'the first 50 tests of the original that do not pass each time' }),
    failing_total: z.int(),
    runs: z.int(),
    outputs: z.array(GateOutput).meta({
      description:
        'the first 50 runs in their order: with how many change sets (0: on the original), how each ended, and the last 1,000 characters that it wrote',
    }),
    duration_ms: z.number(),
    left_out: z.int().meta({ description: 'change sets that it left out, as culprits or unproved' }),
  })
  .meta({
    id: 'GateResult',
    description: "what the run's gate found; null for a run without one, and before its end",
  })
export type GateView = z.infer<typeof GateView>
