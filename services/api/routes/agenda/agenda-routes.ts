import { OpenAPIHono } from '@hono/zod-openapi'
import type { AgendaState, Criterion, InboxMessage, ItemCounts, ItemState } from '#domain/agenda.ts'
import { AppError } from '#domain/error.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { commandOf, expectSameBody, type IdempotencyStore } from '#stages/intake/idempotency.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Composition } from '#store/objects/composition.ts'
import type { DecisionRecord } from '#store/objects/decision-record.ts'
import {
  type AgendaDecision,
  type AgendaItemView,
  ApprovalBody,
  DecisionTalk,
  MessageBody,
  RunAgenda,
  SentToConductor,
} from '#schemas/agenda-schema.ts'
import type { ApiEnv, Caller } from '../../http/api-env.ts'
import { findRun } from '../runs/run-view.ts'
import { openAgendaDecisions } from './agenda-decisions.ts'
import { type Composed, judgeCriterion } from '#domain/criteria.ts'
import type { RunId } from '#domain/ids.ts'
import type { AgendaView } from '#store/ledger/conductor-steps.ts'
import { isoTime, wholeNumber } from '../../http/schema-parts.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer, jsonCommand } from '../../http/endpoint.ts'

const agendaProse = `
The items of the plan with what became of each, and the decisions that made it so, with their reasons and the events that they rest on. Before
the first decision there are no items. RUN_012 for a run that was asked for by its agents alone.`

const messageProse = `
The conductor of the run reads it at its next step, and may change the objective and the items that have not begun: the agenda and the event
\`objective.refined\` show that. RUN_012 for a run without an objective, RUN_006 before its code is discovered, RUN_007 when nothing is decided in it any more.`

const approvalProse = `
Approves the plan of a run that was submitted with \`approval: "plan"\`. \`plan_hash\` is that of the agenda which was looked at: RUN_011 when the plan has
changed since, or waits for no approval. Approving it again changes nothing.`

export const agendaEndpoints = {
  agenda: endpoint('runs:read', ['RUN_012', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/agenda',
    operationId: 'getAgenda',
    summary: 'What a run with an objective plans, does and has done, and why',
    description: agendaProse.trim(),
    request: { params: RunParams },
    responses: { 200: jsonAnswer('the agenda', RunAgenda) },
  }),
  talk: endpoint('runs:read', ['RUN_004', 'RUN_012', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/agenda/decisions/{seq}',
    operationId: 'getDecisionTalk',
    summary: 'What a decision about the agenda knew: all that its model was told, and answered',
    description: 'RUN_004 for what is no decision of a model.',
    request: { params: RunParams.extend({ seq: wholeNumber(1, 1e15 - 1) }) },
    responses: { 200: jsonAnswer('what was said', DecisionTalk) },
  }),
  message: endpoint('runs:write', ['RUN_006', 'RUN_007', 'RUN_012', 'INTAKE_005'], {
    method: 'post',
    path: '/v1/runs/{run_id}/messages',
    operationId: 'tellConductor',
    summary: 'Add to the objective of a run while it goes on',
    description: messageProse.trim(),
    request: { params: RunParams, ...jsonCommand(MessageBody) },
    responses: { 202: jsonAnswer('it is sent', SentToConductor) },
  }),
  approval: endpoint('runs:write', ['RUN_006', 'RUN_007', 'RUN_011', 'RUN_012', 'INTAKE_005'], {
    method: 'post',
    path: '/v1/runs/{run_id}/approval',
    operationId: 'approvePlan',
    summary: 'Approve the plan of a run',
    description: approvalProse.trim(),
    request: { params: RunParams, ...jsonCommand(ApprovalBody) },
    responses: { 202: jsonAnswer('it is sent', SentToConductor) },
  }),
} as const

export type AgendaRouteDeps = {
  ledger: Pick<Ledger, 'getRun' | 'readAgenda' | 'readEvents' | 'sendToConductor'>
  idempotency: IdempotencyStore
  records: {
    readComposition(run: Run): Promise<Composition | null>
    readDecision(run: Run, hash: string): Promise<DecisionRecord>
  }
  fullPrompts: boolean
}

export function agendaRoutes(deps: AgendaRouteDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  addReading(routes, deps)
  addTelling(routes, deps)
  return routes
}

/** RUN_012 for a run without an objective. */
async function findConducted(runId: string, { projectId }: Caller, ledger: AgendaRouteDeps['ledger']) {
  const run = await findRun(runId, projectId, ledger)
  const agenda = await ledger.readAgenda(run.runId)
  if (agenda !== undefined) return { run, agenda }
  throw new AppError('RUN_012', `Run "${runId}" was asked for by its agents alone: it has no objective to plan for.`)
}

function addReading(routes: OpenAPIHono<ApiEnv>, { ledger, records, fullPrompts }: AgendaRouteDeps): void {
  const decisionsOf = openAgendaDecisions(ledger)
  routes.openapi(agendaEndpoints.agenda, async (c) => {
    const { run, agenda } = await findConducted(c.req.valid('param').run_id, c.get('caller'), ledger)
    const decisions = (await decisionsOf({ ...agenda, runId: run.runId })).map(({ view }) => view)
    const composition = isEnded(run.status) ? await records.readComposition(run) : null
    return c.json(agendaView(run.runId, agenda, { decisions, composition }), 200)
  })
  routes.openapi(agendaEndpoints.talk, async (c) => {
    const { run_id: runId, seq } = c.req.valid('param')
    const { run, agenda } = await findConducted(runId, c.get('caller'), ledger)
    const asked = { runId: run.runId, decidedIn: agenda.decidedIn.filter((one) => one === seq) }
    const [decision] = await decisionsOf(asked)
    const hash = decision?.recordHash ?? null
    if (hash === null) throw new AppError('RUN_004', `Event ${seq} of run "${runId}" is no decision of a model.`)
    return c.json({ seq, messages: fullPrompts ? messagesOf(await records.readDecision(run, hash)) : [] }, 200)
  })
}

function addTelling(routes: OpenAPIHono<ApiEnv>, deps: AgendaRouteDeps): void {
  routes.openapi(agendaEndpoints.message, async (c) => {
    const { run } = await findConducted(c.req.valid('param').run_id, c.get('caller'), deps.ledger)
    const message = { kind: 'said', text: c.req.valid('json').text, by: c.get('caller').tokenId } as const
    await send(run, message, { key: c.req.valid('header')['idempotency-key'], caller: c.get('caller') }, deps)
    return c.json({ run_id: run.runId, sent: true } as const, 202)
  })
  routes.openapi(agendaEndpoints.approval, async (c) => {
    const { run, agenda } = await findConducted(c.req.valid('param').run_id, c.get('caller'), deps.ledger)
    const { plan_hash: hash } = c.req.valid('json')
    if (isEnded(run.status))
      throw new AppError('RUN_007', `Run "${run.runId}" has ended: nothing of its plan begins any more.`)
    if (waitsFor(hash, run, agenda.state)) {
      const message = { kind: 'approved', plan_hash: hash, by: c.get('caller').tokenId } as const
      await send(run, message, { key: c.req.valid('header')['idempotency-key'], caller: c.get('caller') }, deps)
    }
    return c.json({ run_id: run.runId, sent: true } as const, 202)
  })
}

/** Is false once the plan of this hash is approved. RUN_011 for any other one. */
function waitsFor(hash: string, { runId }: Run, { approval }: AgendaState): boolean {
  if (approval === null) throw new AppError('RUN_011', `Run "${runId}" has no plan that waits for approval.`)
  const { plan_hash: present, at } = approval
  if (present === hash) return at === undefined
  throw new AppError('RUN_011', `The plan of run "${runId}" is another one by now: ${present}. Look at it first.`)
}

function messagesOf({ messages }: DecisionRecord): DecisionTalk['messages'] {
  return messages.map((message) => {
    const calls = message.role === 'assistant' ? message.toolCalls.map(({ arguments: given }) => given) : []
    return { role: message.role, text: [message.content ?? '', ...calls].filter((text) => text !== '').join('\n') }
  })
}

type Sender = { key: string | undefined; caller: Caller }

/**
 * The ledger takes a command once. INTAKE_005 for a key that came with another message, RUN_006 before there is a conductor, RUN_007 when it
 * decides no more.
 */
async function send(
  { runId, projectId, conductor, status }: Run,
  message: InboxMessage,
  { key, caller }: Sender,
  { ledger, idempotency }: AgendaRouteDeps,
): Promise<void> {
  await expectSameBody({ projectId, key, runId, body: message }, idempotency)
  if (conductor === null && !isEnded(status))
    throw new AppError('RUN_006', `Run "${runId}" is not planned yet: its code is being looked at.`)
  const origin = { kind: 'human', id: caller.tokenId } as const
  if ((await ledger.sendToConductor(runId, message, { command: commandOf(key), origin })) === 'sent') return
  throw new AppError(
    'RUN_007',
    `Nothing is decided in run "${runId}" any more: it has ended, or is being put together.`,
  )
}

type Known = { decisions: readonly AgendaDecision[]; composition: Composition | null }

/** `composition`: that with which the run has ended, if it has. */
function agendaView(runId: RunId, { state, counts, waiting }: AgendaView, known: Known): RunAgenda {
  return {
    run_id: runId,
    objective: state.objective,
    approval: approvalView(state.approval),
    items: state.items.map((item) => itemView(item, counts.get(item.item_id), known)),
    decisions: [...known.decisions],
    messages_waiting: waiting,
    answer: state.answer,
  }
}

function approvalView(approval: AgendaState['approval']): RunAgenda['approval'] {
  if (approval === null) return null
  const { plan_hash, wanted_since: since, at = null, by = null } = approval
  return { plan_hash, wanted_since: isoTime(since), approved_at: isoTime(at), approved_by: by }
}

/** The last decision counts that planned the item: a refinement may have planned it anew. */
function itemView(state: ItemState, now: ItemCounts | undefined, { decisions, composition }: Known): AgendaItemView {
  const { result, ...item } = state
  const planned = decisions.findLast(({ kind, item_ids: ids }) => plans.has(kind) && ids.includes(item.item_id))
  const composed = composition && { kept: composition.keptOfItems?.[item.item_id] ?? 0, gate: composition.gate }
  const criteria = item.success_criteria.map((criterion) => ({ ...criterion, met: metBy(state, criterion, composed) }))
  return { ...item, success_criteria: criteria, counts: countsView(now ?? result), decided_in: planned?.seq ?? null }
}

function countsView(counts: ItemCounts | undefined): AgendaItemView['counts'] {
  if (counts === undefined) return null
  const { reads: _, ...shown } = counts
  return shown
}

const plans: ReadonlySet<AgendaDecision['kind']> = new Set(['plan', 'follow_up', 'refine'])

/** Is known once the item has ended. */
function metBy({ status, result }: ItemState, criterion: Criterion, composed: Composed | null): boolean | null {
  const verdict = status === 'ended' && result !== undefined ? judgeCriterion(criterion, result, composed) : 'open'
  return verdict === 'open' ? null : verdict === 'met'
}
