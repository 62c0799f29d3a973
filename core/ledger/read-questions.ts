import { z } from 'zod'
import type { RunId } from '#domain/ids.ts'
import { Question } from '#domain/question.ts'
import { runKeys } from './keys.ts'
import { unknownRun } from './refusal.ts'
import type { LedgerStore } from './store.ts'

const sliceLength = 200

const Asked = Question.omit({ status: true, answer: true })
const Ending = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('answered'),
    text: z.string(),
    at: z.number(),
    by: z.string(),
    command: z.string(),
  }),
  z.strictObject({ status: z.enum(['expired', 'cancelled']) }),
])

/** What was asked and how it ended, as the script keeps them. */
export const StoredQuestion = z.tuple([z.string(), z.string().nullable()]).transform(([stored, end]): Question => {
  const asked = Asked.parse(JSON.parse(stored))
  if (end === null) return { ...asked, status: 'open', answer: null }
  const ending = Ending.parse(JSON.parse(end))
  if (ending.status !== 'answered') return { ...asked, status: ending.status, answer: null }
  const { text, at, by } = ending
  return { ...asked, status: ending.status, answer: { text, at, by } }
})

const Counted = z.tuple([z.string().nullable(), z.coerce.number()])

/** Those after number `after`, `limit` at most. */
export type QuestionSlice = { after?: number; limit?: number }

/** The run's questions by number, without a slice all of them. RUN_001 for an unknown run. */
export async function listQuestions(
  store: LedgerStore,
  runId: RunId,
  { after = 0, limit = Infinity }: QuestionSlice = {},
): Promise<Question[]> {
  const keys = runKeys(store.namespace, runId)
  const [schema, asked] = Counted.parse(await store.redis.hmget(keys.run, 'schema', 'asked'))
  if (schema === null) throw unknownRun(runId)
  const questions: Question[] = []
  const last = Math.min(asked, after + limit)
  for (let first = after + 1; first <= last; first += sliceLength) {
    const numbers = Array.from({ length: Math.min(sliceLength, last - first + 1) }, (_, index) => first + index)
    const values = await store.redis.hmget(keys.questions, ...numbers.flatMap((n) => [`q${n}`, `q${n}:end`]))
    for (const index of numbers.keys()) questions.push(StoredQuestion.parse(values.slice(2 * index, 2 * index + 2)))
  }
  return questions
}
