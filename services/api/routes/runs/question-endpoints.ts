import { z } from '@hono/zod-openapi'
import { QuestionId } from '#domain/question.ts'
import { AnswerBody, QuestionPage, QuestionStatusShape, QuestionView } from '#schemas/question-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { Cursor, pageLimit } from '../../http/schema-parts.ts'
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
  questions: endpoint('runs:read', ['RUN_001', 'RUN_005'], {
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
  answer: endpoint(
    'runs:write',
    ['RUN_001', 'RUN_005', 'RUN_007', 'ASK_001', 'ASK_002', 'ASK_003', 'ASK_005', 'INTAKE_005'],
    {
      method: 'post',
      path: '/v1/runs/{run_id}/questions/{request_id}',
      operationId: 'answerQuestion',
      summary: 'Answer a question',
      description: answerProse.trim(),
      request: { params: RunParams.extend({ request_id: QuestionId }), ...jsonCommand(AnswerBody) },
      responses: { 200: jsonAnswer('the question', QuestionView) },
    },
  ),
} as const
