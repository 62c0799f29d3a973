import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import { AskId } from '#domain/id-schemas.ts'
import { sha256 } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { commandOf, expectSameBody, type IdempotencyStore } from '#stages/intake/idempotency.ts'
import type { Ask } from '#store/ledger/asks.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { askJobId, type PayloadOf } from '#store/queues/catalog.ts'
import { AskBody, AskReceived, AskView } from '#schemas/ask-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { isoTime } from '../../http/schema-parts.ts'
import { findRun } from '../runs/run-view.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer, jsonCommand } from '../../http/endpoint.ts'

const askProse = `
A model answers from what has happened in the run, with or without an objective, while it goes on or when it has ended. What that costs counts as tokens of the
run and its project. The answer comes as \`ask.answered\` or \`ask.failed\`, and with \`GET\`.`

export const askEndpoints = {
  ask: endpoint('runs:write', ['INTAKE_003', 'INTAKE_005'], {
    method: 'post',
    path: '/v1/runs/{run_id}/asks',
    operationId: 'askRun',
    summary: 'Ask something about a run',
    description: askProse.trim(),
    request: { params: RunParams, ...jsonCommand(AskBody) },
    responses: { 202: jsonAnswer('it will be answered', AskReceived) },
  }),
  oneAsk: endpoint('runs:read', ['ASK_001', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/asks/{ask_id}',
    operationId: 'getAsk',
    summary: 'One thing that was asked about a run, with its answer',
    request: { params: RunParams.extend({ ask_id: AskId }) },
    responses: { 200: jsonAnswer('the ask', AskView) },
  }),
} as const

export type AskRouteDeps = {
  ledger: Pick<Ledger, 'getRun' | 'readAsk' | 'receiveAsk'>
  idempotency: IdempotencyStore
  producer: { add(queue: 'conductor', id: string, payload: PayloadOf<'conductor'>): Promise<unknown> }
}

export function askRoutes(deps: AskRouteDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  const { ledger } = deps
  routes.openapi(askEndpoints.ask, async (c) => {
    const { projectId, tokenId } = c.get('caller')
    const run = await findRun(c.req.valid('param').run_id, projectId, ledger)
    const { text } = c.req.valid('json')
    const key = c.req.valid('header')['idempotency-key']
    await expectSameBody({ projectId, key, runId: run.runId, body: ['ask', text] }, deps.idempotency)
    const askId: AskId = `a${sha256(commandOf(key)).slice(0, 16)}`
    const asked = { askId, text, by: tokenId, phase: run.phase, origin: { kind: 'human', id: tokenId } } as const
    await ledger.receiveAsk(run.runId, asked)
    await enqueue(run, askId, deps)
    return c.json({ run_id: run.runId, ask_id: askId }, 202)
  })
  routes.openapi(askEndpoints.oneAsk, async (c) => {
    const { run_id: runId, ask_id: askId } = c.req.valid('param')
    const run = await findRun(runId, c.get('caller').projectId, ledger)
    const ask = await ledger.readAsk(run.runId, askId)
    if (ask === undefined) throw new AppError('ASK_001', `Nobody has asked "${askId}" about run "${runId}".`)
    if (ask.end === null) await enqueue(run, askId, deps) // its job may be lost: who waits for it has it answered
    return c.json(askView(ask), 200)
  })
  return routes
}

function enqueue({ runId, traceparent }: Run, askId: AskId, { producer }: Pick<AskRouteDeps, 'producer'>) {
  return producer.add('conductor', askJobId({ runId, askId }), { run_id: runId, ask_id: askId, traceparent })
}

function askView({ askId, text, by, at, isTaken, end }: NonNullable<Ask>): AskView {
  const answered = end !== null && 'answer' in end ? end : undefined
  const failed = end !== null && 'reason' in end ? end : undefined
  const open = isTaken ? 'taken' : 'open'
  return {
    ask_id: askId,
    status: answered !== undefined ? 'answered' : failed !== undefined ? 'failed' : open,
    text,
    asked_at: isoTime(at),
    asked_by: by,
    answer: answered?.answer ?? null,
    model: answered?.model ?? null,
    error_code: failed?.error_code ?? null,
    reason: failed?.reason ?? null,
    ended_at: isoTime(end?.at ?? null),
  }
}
