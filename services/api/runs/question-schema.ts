import { z } from '@hono/zod-openapi'
import { maxAnswerCharacters, Question } from '#domain/question.ts'
import { named } from '../http/named-schema.ts'
import { Time } from './run-schema.ts'

const { shape } = Question

export const QuestionStatusShape = named('QuestionStatus', shape.status)

/** What an operation waits for, or waited for, and what was answered. */
export const QuestionView = z
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
export type QuestionView = z.infer<typeof QuestionView>

/** `next` is the `cursor` of the next page; null on the last. */
export const QuestionPage = z
  .strictObject({ questions: z.array(QuestionView), next: z.string().nullable() })
  .openapi('QuestionPage')

export const AnswerBody = z
  .strictObject({
    answer: z
      .string()
      .openapi({ description: `one of the choices, or up to ${maxAnswerCharacters} characters`, minLength: 1 }),
  })
  .openapi('AnswerRequest')
