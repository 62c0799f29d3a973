import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import { newToken, sha256 } from '#domain/ids.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { maxAnswerCharacters, Question, QuestionId } from '#domain/question.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { findRun } from './run-view.ts'
import { Cursor, isoTime, named, pageLimit, viewOf } from '../http/schema-parts.ts'
import { RunParams, Time } from './run-schema.ts'
import { endpoint, jsonAnswer } from '../http/endpoint.ts'
import { IdempotencyHeader } from '../intake/idempotency.ts'

const { shape } = Question

const QuestionStatusShape = named('QuestionStatus', shape.status)

/** A question that an operation waits for, or waited for, with its answer. */
const QuestionView = z
  .strictObject({
    request_id: shape.requestId,
    operation_id: shape.operationId,
    node_id: shape.nodeId,
    agent: z.string(),
    path: z.string(),
    qualified_name: z.string(),
    question: z.string(),
    choices: z.array(z.string()).nullable().openapi({ description: 'null: any text may be answered' }),
    status: QuestionStatusShape,
    asked_at: Time,
    expires_at: Time.openapi({ description: 'without an answer by then its operation is blocked' }),
    answer: z.string().nullable(),
    answered_at: Time.nullable(),
    answered_by: z.string().nullable().openapi({ description: '`kind/id` of who answered' }),
  })
  .openapi('Question')
type QuestionView = z.infer<typeof QuestionView>

/** `next` is the `cursor` of the next page; null on the last. */
export const QuestionPage = z
  .strictObject({ questions: z.array(QuestionView), next: z.string().nullable() })
  .openapi('QuestionPage')

const AnswerBody = z
  .strictObject({
    answer: z
      .string()
      .openapi({ description: `one of the choices, or up to ${maxAnswerCharacters} characters`, minLength: 1 }),
  })
  .openapi('AnswerRequest')

const pageProse = `
With a \`status\` that few have, a page may hold fewer than \`limit\` of them, even none, and more come behind it: go on until
\`next\` is null.`

const answerProse = `
The first answer counts: its operation is ready again, and its next attempt goes on with the answer from where it asked.
ASK_002 when somebody has answered, ASK_003 when it is past its time or its operation was cancelled, ASK_005 for an answer
that is empty, too long or none of the choices, RUN_007 when the run has ended or was stopped. The same \`Idempotency-Key\` with
the same answer gives the question as it was answered, with another answer INTAKE_005.`

/** The questions that a run asks people. */
export const questionEndpoints = {
  questions: endpoint('runs:read', ['RUN_001', 'RUN_005'], {
    method: 'get',
    path: '/v1/runs/{run_id}/questions',
    operationId: 'listQuestions',
    summary: 'What its operations ask people, in the order it was asked',
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
  answer: endpoint(
    'runs:write',
    ['RUN_001', 'RUN_005', 'RUN_007', 'ASK_001', 'ASK_002', 'ASK_003', 'ASK_005', 'INTAKE_005'],
    {
      method: 'post',
      path: '/v1/runs/{run_id}/questions/{request_id}',
      operationId: 'answerQuestion',
      summary: 'Answer a question',
      description: answerProse.trim(),
      request: {
        params: RunParams.extend({ request_id: QuestionId }),
        headers: IdempotencyHeader,
        body: { required: true, content: { 'application/json': { schema: AnswerBody } } },
      },
      responses: { 200: jsonAnswer('the question', QuestionView) },
    },
  ),
} as const

export type QuestionRouteDeps = { ledger: Pick<Ledger, 'getRun' | 'listQuestions' | 'resume'> }

/** Lists the questions that a run asks people, and takes their answers. */
export function addQuestionRoutes(routes: OpenAPIHono<ApiEnv>, { ledger }: QuestionRouteDeps): void {
  routes.openapi(questionEndpoints.questions, async (c) => {
    const { status, cursor, limit } = c.req.valid('query')
    const { runId } = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, ledger)
    const after = Number(cursor ?? 0)
    // One more than is shown tells whether this is the last page.
    const found = await ledger.listQuestions(runId, { after, limit: limit + 1 })
    const shown = found.slice(0, limit).filter((one) => status === undefined || one.status === status)
    const next = found.length > limit ? String(after + limit) : null
    return c.json({ questions: shown.map(questionView), next }, 200)
  })
  routes.openapi(questionEndpoints.answer, async (c) => {
    const { run_id: runId, request_id: requestId } = c.req.valid('param')
    const { projectId, tokenId } = c.get('caller')
    await findRun(runId, projectId, ledger)
    const { answer: text } = c.req.valid('json')
    const command = commandOf(c.req.valid('header')['idempotency-key'])
    const question = await ledger.resume(runId, { requestId, text, by: { kind: 'human', id: tokenId }, command })
    if (question.answer?.text !== text.toWellFormed()) {
      throw new AppError('INTAKE_005', 'This Idempotency-Key came with another answer before.')
    }
    return c.json(questionView(question), 200)
  })
}

/** The ledger keeps the command with the question, so a key holds as long as that, and for one question. */
function commandOf(idempotencyKey: string | undefined): string {
  return idempotencyKey === undefined ? newToken() : `key/${sha256(idempotencyKey)}`
}

function questionView(question: Question): QuestionView {
  const { bundle, text, askedAt, expiresAt, answer } = question
  return viewOf(QuestionView, question, {
    agent: bundle,
    question: text,
    asked_at: isoTime(askedAt),
    expires_at: isoTime(expiresAt),
    answer: answer?.text ?? null,
    answered_at: isoTime(answer?.at ?? null),
    answered_by: answer?.by ?? null,
  })
}
