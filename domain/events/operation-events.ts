import { z } from 'zod'
import { ItemId } from '../id-schemas.ts'
import { ApprovalVerdict } from '../question.ts'
import { EndStatus } from './run-events.ts'
import { event } from './event-row.ts'

/** The item of the agenda that its operation is of. */
const item_id = ItemId.optional()
const node = { path: z.string(), qualified_name: z.string(), item_id }
const request_id = z.string()
const awaited = { request_id: request_id.optional(), reason: z.literal('tool').optional() }
const attempt = z.int()

/** Says why an operation failed or was blocked. Where no attempt ended it, the ledger says more. */
const Fault = z.strictObject({
  attempt: attempt.optional(),
  error_code: z.string().optional(),
  reason: z.string(),
  status: EndStatus.optional(),
  path: z.string().optional(),
  qualified_name: z.string().optional(),
  item_id,
})

const worker_call = 'worker_call'

/** The events of operations, most of them from the ledger. */
export const operationEvents = {
  'operation.queued': event(worker_call, 'A worker may take it.', {
    dispatch: z.int(),
    reason: z.literal('job_lost').optional(),
    item_id,
  }),
  'operation.started': event(
    worker_call,
    'A worker has begun an attempt; `resumes` names the question that it goes on from, or says `tool`.',
    { attempt, dispatch: z.int(), resumes: z.string().optional(), item_id },
  ),
  'operation.retried': event(worker_call, 'The attempt was handed back or lost, and another one follows.', {
    attempt,
    reason: z.enum(['drain', 'store', 'models', 'budget', 'lost', 'abandoned']),
    ...node,
  }),
  'operation.suspended': event(
    worker_call,
    'It waits for an answer, or as its `reason` says for a `tool` that takes long, without a slot of a worker.',
    { ...awaited, tool: z.string().optional(), attempt, ...node },
  ),
  'operation.resumed': event(
    worker_call,
    'It has what it waited for and is ready again; `again`: its worker was lost or stopped, and the tool runs once more.',
    { ...awaited, again: z.literal(true).optional(), ...node },
  ),
  /** A question without an operation is about the run, which does not wait for it. */
  'human_input.requested': event('escalation', 'It asks a person; with a `call`, whether a tool may be called.', {
    request_id,
    attempt: attempt.optional(),
    question: z.string(),
    choices: z.array(z.string()).nullable(),
    call: z.strictObject({ tool: z.string(), arguments: z.string() }).optional(),
    expires_at: z.number().optional(),
    ...node,
  }),
  'human_input.answered': event(
    'escalation',
    'A person has answered; of a call there is a `verdict`, and `answer` is the reason of a denial.',
    { request_id, answer: z.string(), verdict: ApprovalVerdict.optional(), by: z.string(), item_id },
  ),
  'operation.ended': event('worker_output', 'It has ended. Where no attempt ended it, there are no figures.', {
    attempt: attempt.optional(),
    status: EndStatus,
    summary: z.string().optional(),
    turns: z.int().optional(),
    tokens: z.int().optional(),
    change_set_id: z.string().optional(),
    change_set_ids: z.array(z.string()).optional(),
    findings: z.int().optional(),
    record_hash: z.string().optional(),
    error_code: z.string().optional(),
    reason: z.string().optional(),
    cause: z.string().optional(),
    ...node,
  }),
  'operation.failed': { category: 'failed', about: 'It cannot be done; `operation.ended` follows.', data: Fault },
  'operation.blocked': {
    category: 'blocked',
    about: 'Something is missing for it; `operation.ended` follows.',
    data: Fault,
  },
  'operation.skipped': event(
    'blocked',
    'It does not run: the operation `cause` did not end well, the run was stopped (`cause: run`), or the seconds of its item were over (`cause: item`).',
    {
      status: z.enum(['skipped', 'cancelled']),
      cause: z.string(),
      cause_status: EndStatus.optional(),
      error_code: z.string().optional(),
      ...node,
    },
  ),
} as const
