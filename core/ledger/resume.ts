import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { maxAnswerCharacters, QuestionId, type Question } from '#domain/question.ts'
import { runKeys } from './keys.ts'
import { StoredQuestion } from './read-questions.ts'
import { expectKnownRun } from './refusal.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('resume')
/** What events have of an answer. */
const toldCharacters = 2_000

export type Answer = {
  requestId: string
  text: string
  by: EventOrigin
  /** Names this answer: sent again with the same name it is not given twice. */
  command: string
}

const Refusal = z.enum(['no_question', 'no_choice', 'over', 'answered', 'expired', 'cancelled'])

/**
 * Gives the answer an operation waits for, which makes it ready; the first answer counts. ASK_001 for an unknown question,
 * ASK_002 for one that was answered by another command, ASK_003 for one that is past its time, ASK_005 for an answer it
 * does not take; RUN_007 when the run has ended or was stopped, RUN_001 for an unknown run.
 */
export async function resume(store: LedgerStore, runId: RunId, answer: Answer): Promise<Question> {
  const { requestId, by, command } = answer
  if (!QuestionId.safeParse(requestId).success) throw refused(runId, requestId, 'no_question')
  const text = answer.text.toWellFormed()
  if (text.trim() === '') throw new AppError('ASK_005', 'The answer is empty.')
  if (text.length > maxAnswerCharacters) {
    throw new AppError('ASK_005', `An answer has at most ${maxAnswerCharacters} characters, this one ${text.length}.`)
  }
  const told = text.slice(0, toldCharacters).toWellFormed()
  const { kind, id } = store.origin
  const args = [requestId, text, told, command, by.kind, by.id, kind, id]
  const keys = runKeys(store.namespace, runId)
  const reply = expectKnownRun(runId, await script(store.redis, keys.scripted, args))
  const refusal = Refusal.safeParse(reply)
  if (refusal.success) {
    const asked = await store.redis.hmget(keys.questions, requestId, `${requestId}:end`)
    throw refused(runId, requestId, refusal.data, StoredQuestion.safeParse(asked).data)
  }
  return StoredQuestion.parse(reply)
}

function refused(runId: RunId, requestId: string, why: z.infer<typeof Refusal>, question?: Question): AppError {
  switch (why) {
    case 'no_question':
      return new AppError('ASK_001', `Run "${runId}" has no question "${requestId}".`)
    case 'no_choice':
      return new AppError(
        'ASK_005',
        `"${requestId}" must be answered with one of these, spelled the same: ${question?.choices?.join(', ') ?? ''}.`,
      )
    case 'over':
      return new AppError('RUN_007', `Run "${runId}" has ended or was stopped: nothing waits for an answer any more.`)
    case 'answered':
      return new AppError(
        'ASK_002',
        `"${requestId}" has been answered with ${JSON.stringify(question?.answer?.text.slice(0, 200) ?? '')}: the first answer counts.`,
      )
    case 'expired':
      return new AppError(
        'ASK_003',
        `The time to answer "${requestId}" is over: its operation ended without an answer.`,
      )
    case 'cancelled':
      return new AppError('ASK_003', `"${requestId}" is not asked any more: its operation was cancelled.`)
  }
}
