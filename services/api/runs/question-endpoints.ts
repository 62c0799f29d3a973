import { z } from '@hono/zod-openapi'
import { QuestionId } from '#domain/question.ts'
import { endpoint } from '../http/endpoint.ts'
import { Cursor, pageLimit } from '../http/query.ts'
import { IdempotencyHeader } from '../intake/idempotency.ts'
import { AnswerBody, QuestionPage, QuestionStatusShape, QuestionView } from './question-schema.ts'
import { RunParams } from './run-schema.ts'

const pageProse = `
With a \`status\` that few have, a page may hold fewer than \`limit\` of them, even none, and more come behind it: go on until
\`next\` is null.`

const answerProse = `
The first answer counts: its operation is ready again, and its next attempt goes on with the answer from where it asked.
ASK_002 when somebody has answered, ASK_003 when it is past its time or its operation was cancelled, ASK_005 for an answer
that is empty, too long or none of the choices, RUN_007 when the run has ended or was stopped. The same \`Idempotency-Key\` with
the same answer gives the question as it was answered, with another answer INTAKE_005.`

/** What a run asks people. */
export const questionEndpoints = {
  questions: endpoint(
    { scope: 'runs:read', problems: ['RUN_001', 'RUN_005'] },
    {
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
      responses: { 200: { description: 'a page', content: { 'application/json': { schema: QuestionPage } } } },
    },
  ),
  answer: endpoint(
    {
      scope: 'runs:write',
      problems: ['RUN_001', 'RUN_005', 'RUN_007', 'ASK_001', 'ASK_002', 'ASK_003', 'ASK_005', 'INTAKE_005'],
    },
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
      responses: { 200: { description: 'the question', content: { 'application/json': { schema: QuestionView } } } },
    },
  ),
} as const
