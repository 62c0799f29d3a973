import { z } from 'zod'
import { Evidence } from '../change-set.ts'
import { CodeFinding } from '../code-finding.ts'
import { ToolResult } from '../turn.ts'
import { EvidenceRefs, Learning, Report, ReportedArtifact } from '../reports.ts'
import { snakeKeys } from '../wire-keys.ts'
import { event } from './event-row.ts'

const attempt = z.int()
const turn = z.int()
/** Says where a call comes from, if not from the call of a reply. */
const flags = { parsed_from_content: z.boolean().optional(), by_code: z.boolean().optional() }
const { lineText: _, ...finding } = CodeFinding.shape

const FailedTry = z.strictObject({
  endpoint: z.string(),
  error_code: z.string(),
  message: z.string(),
  duration_ms: z.number(),
})

const worker_progress = 'worker_progress'
const worker_output = 'worker_output'

/** The events of what an attempt does. `attempt`, `turn` and `call_id` say what belongs together. */
export const attemptEvents = {
  'model.requested': event(
    worker_progress,
    'A turn was sent to the model; `left_out` messages no longer fit. `reserved`: the most tokens it may use, of a budget.',
    {
      attempt,
      turn,
      messages: z.int(),
      tools: z.int(),
      tool_choice: z.string(),
      left_out: z.int().optional(),
      model: z.string(),
      reserved: z.int().optional(),
    },
  ),
  'model.responded': event(worker_progress, 'The model has answered, or with a `reason` has not.', {
    attempt,
    turn,
    model: z.string().optional(),
    endpoint: z.string().optional(),
    calls: z.int().optional(),
    finish_reason: z.string().optional(),
    prompt_tokens: z.int().optional(),
    completion_tokens: z.int().optional(),
    first_token_ms: z.number().optional(),
    tokens_per_s: z.number().optional(),
    queue_ms: z.number().optional(),
    tries: z.int().optional(),
    failed_tries: z.array(FailedTry).optional(),
    workarounds: z.array(z.string()).readonly().optional(),
    duration_ms: z.number().optional(),
    reason: z.string().optional(),
  }),
  'budget.exceeded_by_server': event(
    'run_lifecycle',
    'The server reports more tokens for a turn than the request asked for and had reserved. They count.',
    { attempt, turn, endpoint: z.string(), requested: z.int(), reported: z.int() },
  ),
  'tool.called': event(worker_progress, 'A tool was called; `resumed`: it goes on with the answer it waited for.', {
    attempt,
    turn,
    call_id: z.string(),
    arguments: z.string(),
    resumed: z.literal(true).optional(),
    ...flags,
  }),
  'tool.returned': event(worker_progress, 'The tool has answered.', {
    attempt,
    turn,
    call_id: z.string(),
    outcome: ToolResult.shape.outcome,
    summary: z.string(),
    knowledge: z.record(z.string(), z.unknown()).optional(),
  }),
  'turn.finished': event(
    worker_progress,
    'All calls of a turn are done; `repeated`: the tool that was called too often with the same answer.',
    {
      attempt,
      turn,
      calls: z.int(),
      repeated: z.string().optional(),
      reason: z.string().optional(),
    },
  ),
  'submission.received': event(
    worker_output,
    'The agent says how it ended; `refused` or `unverified` says why that was given back.',
    {
      attempt,
      turn,
      status: z.string().optional(),
      status_given: z.string().optional(),
      summary: z.string().optional(),
      refused: z.string().optional(),
      unverified: z.string().optional(),
      claimed_unchanged: z.array(z.string()).optional(),
      ...flags,
    },
  ),
  'change_set.created': event(worker_output, 'A change was made, with what was proved of it.', {
    attempt,
    change_set_id: z.string(),
    rules: z.array(z.string()).optional(),
    built_on: z.array(z.string()).optional(),
    files: z.array(z.strictObject({ path: z.string(), kind: z.enum(['edit', 'create', 'delete']) })),
    evidence: z.array(z.strictObject(Evidence.pick({ check: true, of: true, ok: true }).shape)),
  }),
  'finding.reported': event('finding', 'An agent claims something about some lines.', {
    attempt,
    ...snakeKeys(finding),
    evidence_refs: z.array(z.string()),
  }),
  'learning.reported': event('learning', 'An agent has learned what may change what is done next.', {
    attempt,
    ...Learning.shape,
    evidence_refs: EvidenceRefs,
  }),
  'artifact.reported': event(
    'artifact',
    'An agent has made a text; `GET /v1/runs/{run_id}/artifacts/{sha256}` has it.',
    { attempt, ...ReportedArtifact.shape },
  ),
  'report.dropped': event(
    worker_progress,
    'A report of an agent does not count: it was reported before, or there were too many of its kind.',
    {
      attempt,
      kind: z.enum(Report.options.map(({ shape }) => shape.kind.value)),
      reason: z.enum(['duplicate', 'limit']),
      key: z.string(),
    },
  ),
  'progress.reported': event(worker_progress, 'An agent says what it does now, and why, before it does it.', {
    attempt,
    action: z.string(),
    reasoning_summary: z.string(),
  }),
} as const
