import type { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { ApprovalAnswer, Question } from '#domain/question.ts'
import { commandOf } from '#stages/intake/idempotency.ts'
import { ApprovalQuestion, type QuestionView, TextQuestion } from '#schemas/question-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { findRun } from './run-view.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'
import { questionEndpoints } from './question-endpoints.ts'

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
