import { z } from '@hono/zod-openapi'
import { Evidence, ProofState } from '#domain/change-set.ts'
import { NodeId, OperationId, RunId } from '#domain/ids.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { usualContext } from '#platform/unified-diff.ts'
import { endpoint, jsonAnswer } from '../http/endpoint.ts'
import { named, orNull, pageLimit, wholeNumber } from '../http/schema-parts.ts'
import { LeftOut, RunParams } from '../runs/run-schema.ts'
import { DecisionsView, DecisionView, Reason, RetryWanted, VerdictShape, WantedVerdict } from './decision-schema.ts'

const { durationMs, ...evidence } = Evidence.shape
const ChangedFile = z
  .strictObject({ path: z.string(), kind: z.enum(['edit', 'create', 'delete']).openapi('FileChangeKind') })
  .openapi('ChangedFile')

/** What was proved, or disproved, about one file of a change set. */
export const EvidenceView = z
  .strictObject({
    ...evidence,
    check: named('EvidenceCheck', evidence.check),
    of: named('ProvableCheck', evidence.of.unwrap()).optional(),
    duration_ms: durationMs.meta({ description: 'of the programs that were run for it' }),
  })
  .openapi('Evidence')

/** A change set for review. `diff` shows bytes that are not UTF-8 as U+FFFD; the patch has the bytes themselves. */
export const ChangeView = z
  .strictObject({
    change_set_id: z.string(),
    operation_id: OperationId,
    agent: z.string(),
    node_id: NodeId,
    path: z.string().openapi({ description: 'of the node' }),
    qualified_name: z.string().openapi({ description: 'of the node' }),
    rules: z
      .array(z.string())
      .optional()
      .openapi({ description: 'the lint rules whose safe fixes it makes, of a mechanical operation' }),
    built_on: z.array(z.string()).optional().openapi({
      description:
        'the change sets that it needs: they changed what its operation worked on, and the diff has their part where it changes that',
    }),
    needed_by: z.array(z.string()).openapi({ description: 'the change sets that are built on it' }),
    files: z.array(ChangedFile),
    diff: z.string(),
    evidence: z.array(EvidenceView),
    run_id: RunId.meta({ description: 'the run that made it: this one, or one that it retries' }),
    is_redone: z.boolean().openapi({
      description:
        'whether its operation was run again, by a later retry or because it collided: it is in the proposed patch only if accepted',
    }),
    verdict: VerdictShape,
    decision: orNull(DecisionView).openapi({ description: 'null where nobody has decided' }),
    conflict: LeftOut.optional(),
  })
  .openapi('Change')
export type ChangeView = z.infer<typeof ChangeView>

/** `next` is the `cursor` of the next page; null on the last one. Other pages may be short or empty, too. */
const ChangePage = z.strictObject({ changes: z.array(ChangeView), next: z.string().nullable() }).openapi('ChangePage')

/** Which change sets: those that meet all of it. */
const ChangeFilter = z.strictObject({
  agent: z.string().min(1).max(64).optional(),
  path: z
    .string()
    .min(1)
    .max(1024)
    .refine((glob) => faultOfGlobs([glob]) === undefined, 'not a pattern of paths')
    .optional()
    .openapi({ description: 'a path, a folder or a pattern: one of the files that it changes' }),
  evidence: named('ProofState', ProofState).optional().openapi({
    description: 'every check passed; one failed; or none failed and something was not checked',
  }),
  verdict: VerdictShape.optional(),
})
export type ChangeFilter = z.infer<typeof ChangeFilter>

const ChangesQuery = z.strictObject({
  operation_id: OperationId.optional().openapi({
    description: 'only those of this operation, which may belong to an earlier run that this one retries',
  }),
  change_set_id: z.string().min(1).max(64).optional().openapi({
    description: 'only this one, instead of those of an operation',
  }),
  ...ChangeFilter.shape,
  context: wholeNumber(0, 100)
    .default(usualContext)
    .openapi({ default: usualContext, description: 'so many unchanged lines are around each change of a diff' }),
  cursor: z
    .string()
    .regex(/^\d{1,3}-\d{1,9}$/, 'not a cursor')
    .optional()
    .openapi({ description: '`next` of the page before' }),
  limit: pageLimit(100, 20),
})

const maxDecisions = 1_000

type Asked = { verdict?: WantedVerdict | undefined; reason?: string | undefined; retry?: boolean | undefined }
type AskedBody<One extends Asked> = Asked & { decisions?: readonly One[] | undefined }

/** What is asked of each of the sets that are named: what is said beside it, else what the body says of all. */
export function askedOfEach<One extends Asked>({ decisions = [], ...all }: AskedBody<One>): One[] {
  return decisions.map((one) => ({
    ...one,
    verdict: one.verdict ?? all.verdict,
    reason: one.reason ?? all.reason,
    retry: one.retry ?? all.retry,
  }))
}

function hasVerdicts<One extends Asked>({ decisions, ...all }: AskedBody<One>): boolean {
  const asked = decisions === undefined ? [all] : askedOfEach({ decisions, ...all })
  return asked.every(({ verdict }) => verdict !== undefined)
}

function mayAskForRetry<One extends Asked>({ decisions, ...all }: AskedBody<One>): boolean {
  const asked = decisions === undefined ? [all] : askedOfEach({ decisions, ...all })
  return asked.every(({ retry, verdict, reason }) => retry !== true || (verdict === 'reject' && reason !== undefined))
}

const DecisionsBody = z
  .strictObject({
    decisions: z
      .array(
        z
          .strictObject({
            change_set_id: z.string().min(1).max(64),
            verdict: WantedVerdict.optional(),
            reason: Reason,
            retry: RetryWanted,
            version: z.int().min(0).optional().openapi({
              description:
                'of the decision on the set that you have seen, 0 for none: WORK_003 when somebody has decided otherwise since',
            }),
          })
          .openapi('WantedDecision'),
      )
      .min(1)
      .max(maxDecisions)
      .refine((all) => new Set(all.map((one) => one.change_set_id)).size === all.length, 'names a change set twice')
      .optional(),
    where: ChangeFilter.openapi('ChangeFilter', {
      description: 'instead of `decisions`: all change sets that meet this, `{}` for all',
    }).optional(),
    also_decided: z.boolean().optional().openapi({
      description: 'only with `where`: whether also what people have accepted or rejected before is decided anew',
    }),
    verdict: WantedVerdict.optional(),
    reason: Reason,
    with_dependents: z.boolean().optional().openapi({
      description:
        'whether what is built on a set is rejected or taken back with it; without it, such a set is refused',
    }),
    all_or_none: z.boolean().optional().openapi({
      description:
        'whether nothing is decided where one of the decisions is refused; INTAKE_003 for more than 500, with those that are made with them',
    }),
    retry: RetryWanted,
  })
  .refine(({ decisions, where }) => (decisions === undefined) !== (where === undefined), 'decisions or where')
  .refine((body) => body.also_decided === undefined || body.where !== undefined, 'also_decided belongs to where')
  .refine(hasVerdicts, 'verdict: of all, or of each of the decisions')
  .refine(mayAskForRetry, 'retry belongs to reject with a reason')
  .openapi('DecisionsRequest', {
    description:
      'Either `decisions`, or `where` with the `verdict` on all that it finds. `verdict`, `reason` and `retry` are those of each decision that says nothing else.',
  })
export type DecisionsBody = z.infer<typeof DecisionsBody>

const decideProse = `
Each decision is an event, and the last one counts; they can be made while the run is running and as long as it is kept. There is
one decision on a change set, whichever run of a chain of retries shows it. A decision with \`where\` leaves alone what people have accepted or rejected before, and \`left_alone\` counts it, unless
\`also_decided\` is true. What can be decided is decided, and the rest is in
\`refused\`: RUN_004 for a set that the run has not, WORK_001 to accept what changes the same place as something accepted, or is built
on something rejected, and to reject or take back what others are built on (unless \`with_dependents\` is true), WORK_004
what breaks a file by itself or together with it, WORK_003 for a decision on what somebody else has decided since you looked (give the
\`version\` that you have seen). Where nothing of it can be decided, the answer is 409 (404 for RUN_004) with the first refusal's
code, and the problem has \`refused_count\` and \`refused\`: so it is with \`all_or_none\` where anything is refused. What a set is built on is accepted with it. The same decision again changes nothing, so a request can be repeated.

With \`retry\` beside \`reject\` and a reason, the agents try again what was rejected:
when the run has ended, or at once if it has, in one run that is started by itself. Rejected while that one still runs: in another one after its end.
To accept it or to undo the decision before takes that back; a run that is cancelled is not retried. \`retry\` of the answer names the new run.
RUN_009 when the services here have another kind of model than the run was begun with.`

/** The change sets of a run, and decisions on them. */
export const changeEndpoints = {
  list: endpoint('runs:read', ['RUN_001', 'RUN_004', 'RUN_005', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/changes',
    operationId: 'listChanges',
    summary: 'Its change sets, each with its diff and evidence, also those that were left out of the patch',
    description:
      'For reading: secrets in a diff are shown as `[secret]`, so that git does not apply it. The patch has the bytes.',
    request: { params: RunParams, query: ChangesQuery },
    responses: { 200: jsonAnswer('a page', ChangePage) },
  }),
  decide: endpoint(
    'runs:write',
    [
      'RUN_001',
      'RUN_004',
      'RUN_005',
      'RUN_009',
      'WORK_001',
      'WORK_002',
      'WORK_003',
      'WORK_004',
      'WORK_007',
      'STORE_002',
      'STORE_003',
    ],
    {
      method: 'post',
      path: '/v1/runs/{run_id}/decisions',
      operationId: 'decideChanges',
      summary: 'Accept or reject change sets, or take that back',
      description: decideProse.trim(),
      request: {
        params: RunParams,
        body: { required: true, content: { 'application/json': { schema: DecisionsBody } } },
      },
      responses: { 200: jsonAnswer('what was decided', DecisionsView) },
    },
  ),
} as const
