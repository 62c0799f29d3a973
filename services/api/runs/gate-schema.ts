import { z } from '@hono/zod-openapi'
import { GateReport, GateRequest } from '#domain/gate.ts'
import { named } from '../http/schema-parts.ts'

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
  .openapi('Gate', {
    description:
      'a command that must not get worse by what the run changes, such as the tests. It runs in the sandbox of a worker, on the snapshot and on the snapshot with the changes; change sets with which something fails that passed before are left out (WORK_007), and so is what is not proved when it may run no more',
  })
export type GateShape = z.infer<typeof GateShape>

/** What callers ask for, in our words. */
export function gateRequest({ max_runs: maxRuns, limit_s: limitS, ...same }: GateShape): GateRequest {
  return { ...same, maxRuns, limitS }
}

const GateOutput = z
  .strictObject({ change_sets: z.int(), ending: z.string(), output: z.string() })
  .openapi('GateOutput')

export const GateView = z
  .strictObject({
    command: z.string(),
    verdict: named('GateVerdict', GateReport.shape.verdict, {
      description:
        'passed: what passed on the original passes with the changes of the patch. unproved: it could not judge what is in the patch',
    }),
    reason: z.string().optional(),
    tests: z.int().nullable().openapi({
      description:
        'tests of the original that pass each time; null where the command does not name its tests, and its exit code counts',
    }),
    failing: z
      .array(z.string())
      .openapi({ description: 'the first 50 tests of the original that do not pass each time' }),
    failing_total: z.int(),
    runs: z.int(),
    outputs: z.array(GateOutput).openapi({
      description:
        'the first 50 runs in their order: with how many change sets (0: on the original), how each ended, and the last 1,000 characters that it wrote',
    }),
    duration_ms: z.number(),
    left_out: z.int().openapi({ description: 'change sets that it left out, as culprits or unproved' }),
  })
  .openapi('GateResult', { description: "what the run's gate found; null for a run without one, and before its end" })
export type GateView = z.infer<typeof GateView>

/** A gate as callers see it. */
export function gateRequestView(verify: GateRequest | undefined): GateShape | undefined {
  return verify && { command: verify.command, runs: verify.runs, max_runs: verify.maxRuns, limit_s: verify.limitS }
}

export function gateView(gate: GateReport | undefined): GateView | null {
  if (gate === undefined) return null
  const { failingTotal, durationMs, leftOut, outputs, ...same } = gate
  const said = outputs.map(({ changeSets, ...one }) => ({ change_sets: changeSets, ...one }))
  return { ...same, outputs: said, failing_total: failingTotal, duration_ms: durationMs, left_out: leftOut }
}
