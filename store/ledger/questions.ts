import { z } from 'zod'
import type { RunId } from '#domain/ids.ts'
import { ApprovalVerdict, AskedQuestion, maxAnswerCharacters, Question, QuestionId } from '#domain/question.ts'
import { AppError } from '#domain/error.ts'
import { textFault } from '#domain/json.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { Attempt } from './attempt.ts'
import { runKeys } from './keys.ts'
import type { LedgerStore } from './store.ts'
import { ownerOf } from './stored-events.ts'
import { NamedFields, runCommand, unknownRun } from './script.ts'
import { noteWanted } from './runs-to-retry.ts'

const giveAnswer = runCommand('resume', z.unknown())
const sliceLength = 200

/** `payload` names the stored data of the event, which has a call that is too large to be here. */
const Asked = Question.omit({ status: true, answer: true }).extend({
  payload: z.string().optional(),
  /** The number of its event, of a question about the run. */
  seq: z.int().optional(),
})
const Ending = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('answered'),
    text: z.string(),
    verdict: ApprovalVerdict.optional(),
    at: z.number(),
    by: z.string(),
    command: z.string(),
  }),
  z.strictObject({ status: z.enum(['expired', 'cancelled']) }),
])

const StoredQuestion = z.tuple([z.string(), z.string().nullable()]).transform(([stored, end]) => {
  const question = Asked.parse(JSON.parse(stored))
  if (end === null) return { ...question, status: 'open' as const, answer: null }
  const ending = Ending.parse(JSON.parse(end))
  if (ending.status !== 'answered') return { ...question, status: ending.status, answer: null }
  const { command: _, status, ...answer } = ending
  return { ...question, status, answer }
})

const Counted = z.tuple([z.string().nullable(), z.coerce.number()])

export type QuestionSlice = { after?: number; limit?: number }

/** The run's questions by number; all of them without a slice. RUN_001 for an unknown run, STORE_003 for a call that is gone. */
export async function listQuestions(store: LedgerStore, runId: RunId, slice: QuestionSlice = {}): Promise<Question[]> {
  const { after = 0, limit = Infinity } = slice
  const keys = runKeys(store.namespace, runId)
  const [schema, count] = Counted.parse(await store.redis.hmget(keys.run, 'schema', 'asked'))
  if (schema === null) throw unknownRun(runId)
  const questions: Question[] = []
  const last = Math.min(count, after + limit)
  for (let first = after + 1; first <= last; first += sliceLength) {
    const numbers = Array.from({ length: Math.min(sliceLength, last - first + 1) }, (_, index) => first + index)
    const values = await store.redis.hmget(keys.questions, ...numbers.flatMap((n) => [`q${n}`, `q${n}:end`]))
    for (const index of numbers.keys())
      questions.push(await wholeQuestion(store, runId, values.slice(2 * index, 2 * index + 2)))
  }
  return questions
}

const StoredCall = AskedQuestion.pick({ call: true })

async function wholeQuestion(store: LedgerStore, runId: RunId, texts: unknown): Promise<Question> {
  const { payload, seq: _, ...question } = StoredQuestion.parse(texts)
  if (payload === undefined) return question
  const data = await store.archive?.getPayload(await ownerOf(store, runId)(), payload)
  if (data === undefined) throw new AppError('STORE_003', `the call of ${question.requestId} cannot be read here`)
  return { ...question, ...StoredCall.parse({ call: data['call'] }) }
}

/** Returns the tools that are allowed for the run, of whatever bundle. */
export async function allowedTools({ redis, namespace }: LedgerStore, runId: RunId): Promise<ReadonlySet<string>> {
  const fields = await redis.hkeys(runKeys(namespace, runId).questions)
  return new Set(fields.flatMap((field) => /^allowed:\w+:(\w+)$/.exec(field)?.[1] ?? []))
}

/** Says whether a person has allowed the tool, of the bundle of the attempt, for the whole run. */
export async function isAllowed(store: LedgerStore, { runId, bundleHash }: Attempt, tool: string): Promise<boolean> {
  const { questions } = runKeys(store.namespace, runId)
  return (await store.redis.hexists(questions, `allowed:${bundleHash}:${tool}`)) === 1
}

export type Answer = {
  requestId: string
  /** With a verdict, the reason of a denial, or empty. */
  text: string
  verdict?: ApprovalVerdict | undefined
  by: EventOrigin
  /** Names this answer: with the same name it is not given twice. */
  command: string
}

const ResumeReply = z.object({ question: z.string(), ending: z.string() })
const Refusal = z.enum(['no_question', 'other_kind', 'no_choice', 'over', 'answered', 'expired', 'cancelled'])

/**
 * Gives the answer an operation waits for; the first one counts. A tool that is allowed for the run is allowed to all that wait for
 * it, at once or with the next `sweep`. ASK_001: unknown question; ASK_002: answered by another
 * command; ASK_003: past its time; ASK_005: an answer it does not take; RUN_007: the run has ended or was stopped; RUN_001:
 * unknown run.
 */
export async function resume(store: LedgerStore, runId: RunId, answer: Answer): Promise<Question> {
  const { requestId, by, command } = answer
  if (!QuestionId.safeParse(requestId).success) throw refused(runId, requestId, 'no_question')
  const { text, verdict } = answer
  const unkept = textFault(text)
  if (unkept !== undefined) throw new AppError('ASK_005', `The answer cannot be kept: ${unkept}.`)
  if (verdict === undefined && text.trim() === '') throw new AppError('ASK_005', 'The answer is empty.')
  if (text.length > maxAnswerCharacters) {
    throw new AppError('ASK_005', `An answer has at most ${maxAnswerCharacters} characters, this one ${text.length}.`)
  }
  const shown = store.redactor.text(text).toWellFormed()
  const { kind, id } = store.origin
  const args = [requestId, text, shown, command, by.kind, by.id, kind, id, verdict ?? '']
  const reply = await giveAnswer(store, runId, args)
  const refusal = Refusal.safeParse(reply)
  if (refusal.success) {
    const storedTexts = await store.redis.hmget(
      runKeys(store.namespace, runId).questions,
      requestId,
      `${requestId}:end`,
    )
    throw refused(runId, requestId, refusal.data, StoredQuestion.safeParse(storedTexts).data)
  }
  const { question, ending } = NamedFields.pipe(ResumeReply).parse(reply)
  const answered = await wholeQuestion(store, runId, [question, ending])
  if (answered.acts?.[text] === 'retry') await noteWanted(store, runId)
  return answered
}

function refused(runId: RunId, requestId: string, why: z.infer<typeof Refusal>, question?: Question): AppError {
  const { text = '', verdict } = question?.answer ?? {}
  const answered = verdict ?? JSON.stringify(text.slice(0, 200))
  const choices = question?.choices?.join(', ') ?? ''
  const taken =
    question?.call === undefined
      ? 'a text'
      : `a verdict: ${ApprovalVerdict.options.join(', ')} (remora answer --allow, --allow-for-run, --deny)`
  const [code, message] = (
    {
      no_question: ['ASK_001', `Run "${runId}" has no question "${requestId}".`],
      other_kind: ['ASK_005', `"${requestId}" must be answered with ${taken}.`],
      no_choice: ['ASK_005', `"${requestId}" must be answered with one of these, spelled the same: ${choices}.`],
      over: ['RUN_007', `Run "${runId}" has ended or was stopped: nothing waits for an answer any more.`],
      answered: ['ASK_002', `"${requestId}" has been answered with ${answered}: the first answer counts.`],
      expired: [
        'ASK_003',
        `The time to answer "${requestId}" is over: its operation, or the run, has ended without an answer.`,
      ],
      cancelled: ['ASK_003', `"${requestId}" is not asked any more: its operation was cancelled.`],
    } as const
  )[why]
  return new AppError(code, message)
}
