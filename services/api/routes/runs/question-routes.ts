import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { type ApprovalAnswer, type Question, QuestionId } from '#domain/question.ts'
import { commandOf } from '#stages/intake/idempotency.ts'
import {
  AnswerBody,
  ApprovalQuestion,
  QuestionPage,
  QuestionStatusShape,
  QuestionView,
  TextQuestion,
} from '#schemas/question-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { findRun } from './run-view.ts'
import { Cursor, isoTime, pageLimit, viewOf } from '../../http/schema-parts.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer, jsonCommand } from '../../http/endpoint.ts'

const pageProse = `
With a \`status\` that few questions have, a page may hold fewer than \`limit\` of them, even none, although others follow:
continue until \`next\` is null.`

const answerProse = `
A question without an operation is about the run, which does not wait for it: one of its choices may cancel the run, or have what failed retried once it has ended.
A question of the kind \`text\` takes a text, one of the kind \`approval\` a verdict. The first answer counts: the operation is ready
again, and its next attempt continues with the answer from where it asked. \`allow_for_run\` also answers what else waits for the same
tool of the same agent, and its later calls in the run do not ask. ASK_002 when the question was answered before, ASK_003 when it has expired or its operation was cancelled, ASK_005 for an
answer that is empty, too long, not one of the choices or of the other kind, RUN_007 when the run has ended or was stopped. The same
\`Idempotency-Key\` returns the answered question for the same answer, and INTAKE_005 for another answer.`

export const questionEndpoints = {
  questions: endpoint('runs:read', [], {
    method: 'get',
    path: '/v1/runs/{run_id}/questions',
    operationId: 'listQuestions',
    summary: 'What its operations ask people, oldest first',
    description: pageProse.trim(),
    request: {
      params: RunParams,
      query: z.strictObject({
        status: QuestionStatusShape.optional(),
        cursor: Cursor,
        limit: pageLimit(500, 100),
      }),
    },
    responses: { 200: jsonAnswer('a page', QuestionPage) },
  }),
  answer: endpoint('runs:write', ['RUN_007', 'ASK_001', 'ASK_002', 'ASK_003', 'ASK_005', 'INTAKE_005'], {
    method: 'post',
    path: '/v1/runs/{run_id}/questions/{request_id}',
    operationId: 'answerQuestion',
    summary: 'Answer a question',
    description: answerProse.trim(),
    request: { params: RunParams.extend({ request_id: QuestionId }), ...jsonCommand(AnswerBody) },
    responses: { 200: jsonAnswer('the question', QuestionView) },
  }),
} as const

export type QuestionRouteDeps = { ledger: Pick<Ledger, 'getRun' | 'listQuestions' | 'resume'> }

export function addQuestionRoutes(routes: OpenAPIHono<ApiEnv>, { ledger }: QuestionRouteDeps): void {
  routes.openapi(questionEndpoints.questions, async (c) => {
    const { status, cursor, limit } = c.req.valid('query')
    const { runId } = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, ledger)
    const after = Number(cursor ?? 0)
    // One more than is shown: whether it exists decides if this is the last page.
    const questions = await ledger.listQuestions(runId, { after, limit: limit + 1 })
    const shown = questions.slice(0, limit).filter((question) => status === undefined || question.status === status)
    const next = questions.length > limit ? String(after + limit) : null
    return c.json({ questions: shown.map(questionView), next }, 200)
  })
  routes.openapi(questionEndpoints.answer, async (c) => {
    const { run_id: runId, request_id: requestId } = c.req.valid('param')
    const { projectId, tokenId } = c.get('caller')
    await findRun(runId, projectId, ledger)
    const { answer } = c.req.valid('json')
    const given = typeof answer === 'string' ? { text: answer } : { text: answer.reason ?? '', verdict: answer.verdict }
    const command = commandOf(c.req.valid('header')['idempotency-key'])
    const question = await ledger.resume(runId, { requestId, ...given, by: { kind: 'human', id: tokenId }, command })
    if (question.answer?.text !== given.text || question.answer.verdict !== given.verdict) {
      throw new AppError('INTAKE_005', 'This Idempotency-Key was used before with another answer.')
    }
    return c.json(questionView(question), 200)
  })
}

function questionView(question: Question): QuestionView {
  const { bundle, text, askedAt, expiresAt, answer, call } = question
  const common = {
    agent: bundle,
    question: text,
    asked_at: isoTime(askedAt),
    expires_at: isoTime(expiresAt),
    answered_at: isoTime(answer?.at ?? null),
    answered_by: answer?.by ?? null,
  }
  if (call === undefined)
    return viewOf(TextQuestion, question, { kind: 'text', ...common, answer: answer?.text ?? null })
  return viewOf(ApprovalQuestion, question, { kind: 'approval', ...common, call, answer: approvalOf(answer) })
}

function approvalOf(answer: Question['answer']): ApprovalAnswer | null {
  if (answer?.verdict === undefined) return null
  const { verdict, text } = answer
  return text === '' ? { verdict } : { verdict, reason: text }
}
