import { z } from 'zod'
import { maxReasonCharacters } from './decision.ts'
import { NodeId, OperationId } from './id-schemas.ts'

const isSaid = (text: string) => text.trim() !== ''
const areDifferent = (texts: readonly string[]) => new Set(texts).size === texts.length

/** A call that a person is to approve. `arguments` are those that the tool gets, as JSON. */
const AskedCall = z.strictObject({ tool: z.string(), arguments: z.string() })

/**
 * The arguments of `ask_user`: a text of at most 3,000 characters, and the choices when the answer is not free text. With a
 * `call`, it is not a script that asks: the call waits for approval.
 */
export const AskedQuestion = z.strictObject({
  text: z.string().max(3000).refine(isSaid),
  choices: z.array(z.string().max(100).refine(isSaid)).min(1).max(20).refine(areDifferent).nullable(),
  call: AskedCall.optional(),
})
export type AskedQuestion = z.infer<typeof AskedQuestion>

/** Is `q` and a number within the run: short enough to type. */
export const QuestionId = z.string().regex(/^q[1-9][0-9]{0,8}$/)
export type QuestionId = z.infer<typeof QuestionId>

export const maxAnswerCharacters = 16_000

/** `allow_for_run`: this call, and all others of the same tool of the same bundle in the run. */
export const ApprovalVerdict = z.enum(['allow', 'allow_for_run', 'deny'])
export type ApprovalVerdict = z.infer<typeof ApprovalVerdict>

/** A person's answer about a call. The model reads the `reason` of a denial. */
export const ApprovalAnswer = z
  .strictObject({
    verdict: ApprovalVerdict,
    reason: z.string().trim().min(1).max(maxReasonCharacters).optional(),
  })
  .refine(({ verdict, reason }) => reason === undefined || verdict === 'deny', 'a reason belongs to deny')
export type ApprovalAnswer = z.infer<typeof ApprovalAnswer>

const questionStatuses = ['open', 'answered', 'expired', 'cancelled'] as const

/**
 * A question of an operation; or one about the run itself, which nothing waits for, and whose operation and node are null. Times are milliseconds
 * since the epoch, by Redis' clock.
 */
export const Question = z.strictObject({
  requestId: QuestionId,
  operationId: OperationId.nullable(),
  nodeId: NodeId.nullable(),
  /** Names who asks. */
  bundle: z.string(),
  path: z.string().nullable(),
  qualifiedName: z.string().nullable(),
  ...AskedQuestion.shape,
  status: z.enum(questionStatuses),
  /** Says what answers about a run do. `retry`: what has failed, once the run has ended. */
  acts: z.record(z.string(), z.enum(['cancel', 'retry'])).optional(),
  askedAt: z.number(),
  /** Null: with the end of the run. */
  expiresAt: z.number().nullable(),
  /** `by` names who answered, as `kind/id`. About a call there is a verdict; the text is then the reason of a denial, or empty. */
  answer: z
    .strictObject({ text: z.string(), verdict: ApprovalVerdict.optional(), at: z.number(), by: z.string() })
    .nullable(),
})
export type Question = z.infer<typeof Question>
