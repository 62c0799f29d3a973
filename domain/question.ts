import { z } from 'zod'
import { NodeId, OperationId } from './id-schemas.ts'

const isSaid = (text: string) => text.trim() !== ''
const areDifferent = (texts: readonly string[]) => new Set(texts).size === texts.length

/** The arguments of `ask_user`: a text of at most 3,000 characters, and the choices when the answer is not free text. */
export const AskedQuestion = z.strictObject({
  text: z.string().max(3000).refine(isSaid),
  choices: z.array(z.string().max(100).refine(isSaid)).min(1).max(20).refine(areDifferent).nullable(),
})
export type AskedQuestion = z.infer<typeof AskedQuestion>

/** Is `q` and a number within the run: short enough to type. */
export const QuestionId = z.string().regex(/^q[1-9][0-9]{0,8}$/)
export type QuestionId = z.infer<typeof QuestionId>

export const maxAnswerCharacters = 16_000

const questionStatuses = ['open', 'answered', 'expired', 'cancelled'] as const

/** A question of an operation. Times are milliseconds since the epoch, by Redis' clock. */
export const Question = z.strictObject({
  requestId: QuestionId,
  operationId: OperationId,
  nodeId: NodeId,
  bundle: z.string(),
  path: z.string(),
  qualifiedName: z.string(),
  ...AskedQuestion.shape,
  status: z.enum(questionStatuses),
  askedAt: z.number(),
  expiresAt: z.number(),
  /** `by` names who answered, as `kind/id`. */
  answer: z.strictObject({ text: z.string(), at: z.number(), by: z.string() }).nullable(),
})
export type Question = z.infer<typeof Question>
