import { z } from 'zod'
import { ApprovalAnswer, ApprovalVerdict, maxAnswerCharacters, Question } from '#domain/question.ts'
import { orNull, Time } from './wire-parts.ts'

const { shape } = Question

export const QuestionStatusShape = shape.status.meta({ id: 'QuestionStatus' })

const asked = {
  request_id: shape.requestId,
  operation_id: shape.operationId,
  node_id: shape.nodeId,
  agent: z.string().meta({ description: 'the bundle of its operation, or `watcher`' }),
  path: shape.path.meta({
    description: 'null, as operation and node, of a question about the run, which goes on meanwhile',
  }),
  qualified_name: shape.qualifiedName,
  question: z.string(),
  status: QuestionStatusShape,
  asked_at: Time,
  expires_at: Time.nullable().meta({
    description: 'without an answer by then its operation is blocked; null: with the end of the run',
  }),
  answered_at: Time.nullable(),
  answered_by: z.string().nullable().meta({ description: '`kind/id` of who answered' }),
}

const named = { verdict: ApprovalVerdict.meta({ id: 'ApprovalVerdict' }) }

export const ApprovalAnswerShape = ApprovalAnswer.safeExtend(named).meta({
  id: 'ApprovalAnswer',
  description:
    '`allow_for_run`: also all other calls of the tool by this agent in the run. `reason`: of `deny`, for the model',
})

/** A script asks for a text. */
export const TextQuestion = z
  .strictObject({
    kind: z.literal('text'),
    ...asked,
    choices: z.array(z.string()).nullable().meta({ description: 'null: any text may be answered' }),
    answer: z.string().nullable(),
  })
  .meta({ id: 'TextQuestion' })

/** A call of a tool waits for approval. */
export const ApprovalQuestion = z
  .strictObject({
    kind: z.literal('approval'),
    ...asked,
    call: z
      .strictObject({
        tool: z.string(),
        arguments: z.string().meta({ description: 'those that the tool gets, as JSON' }),
      })
      .meta({ id: 'AskedCall' }),
    answer: orNull(ApprovalAnswerShape),
  })
  .meta({ id: 'ApprovalQuestion' })

/** A question that an operation waits for, or waited for, with its answer. */
export const QuestionView = z.discriminatedUnion('kind', [TextQuestion, ApprovalQuestion]).meta({ id: 'Question' })
export type QuestionView = z.infer<typeof QuestionView>

/** `next` is the `cursor` of the next page; null on the last. */
export const QuestionPage = z
  .strictObject({ questions: z.array(QuestionView), next: z.string().nullable() })
  .meta({ id: 'QuestionPage' })

export const AnswerBody = z
  .strictObject({
    answer: z
      .union([
        z
          .string()
          .meta({ description: `one of the choices, or up to ${maxAnswerCharacters} characters`, minLength: 1 }),
        ApprovalAnswerShape,
      ])
      .meta({ id: 'Answer' }),
  })
  .meta({ id: 'AnswerRequest' })
