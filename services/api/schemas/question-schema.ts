import { z } from 'zod'
import { maxAnswerCharacters, Question } from '#domain/question.ts'
import { Time } from './wire-parts.ts'

const { shape } = Question

export const QuestionStatusShape = shape.status.meta({ id: 'QuestionStatus' })

/** A question that an operation waits for, or waited for, with its answer. */
export const QuestionView = z
  .strictObject({
    request_id: shape.requestId,
    operation_id: shape.operationId,
    node_id: shape.nodeId,
    agent: z.string(),
    path: z.string(),
    qualified_name: z.string(),
    question: z.string(),
    choices: z.array(z.string()).nullable().meta({ description: 'null: any text may be answered' }),
    status: QuestionStatusShape,
    asked_at: Time,
    expires_at: Time.meta({ description: 'without an answer by then its operation is blocked' }),
    answer: z.string().nullable(),
    answered_at: Time.nullable(),
    answered_by: z.string().nullable().meta({ description: '`kind/id` of who answered' }),
  })
  .meta({ id: 'Question' })
export type QuestionView = z.infer<typeof QuestionView>

/** `next` is the `cursor` of the next page; null on the last. */
export const QuestionPage = z
  .strictObject({ questions: z.array(QuestionView), next: z.string().nullable() })
  .meta({ id: 'QuestionPage' })

export const AnswerBody = z
  .strictObject({
    answer: z
      .string()
      .meta({ description: `one of the choices, or up to ${maxAnswerCharacters} characters`, minLength: 1 }),
  })
  .meta({ id: 'AnswerRequest' })
