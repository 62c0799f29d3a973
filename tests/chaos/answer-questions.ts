import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { RunId } from '#domain/ids.ts'
import { delay } from '#platform/clock.ts'
import type { RunApi } from '../e2e/run-api.ts'
import { answerPatiently, openQuestionsOf } from './patient-calls.ts'

/** The people who answer what a history's agents ask. */
export type Answerers = {
  /** Its questions are answered from now on. */
  add(runId: RunId): void
  /** What went wrong: a question that took two answers, or an answer that was refused for no reason. */
  close(): Promise<string[]>
}

const restMs = 150
/** Taken, or refused since another one was, since the time is over or the run has ended. */
const expected = new Set([200, 409])
const Answered = z.object({ answer: z.string() })

/** Two people answer every question at once, over and over, until `close`: the first answer of each counts. */
export function openAnswerers(api: Pick<RunApi, 'ask'>): Answerers {
  const runs = new Set<RunId>()
  const taken = new Map<string, Set<string>>()
  const violations: string[] = []
  const closing = new AbortController()

  async function answer(runId: RunId, request: string): Promise<void> {
    const question = `${runId} ${request}`
    const answers = taken.get(question) ?? new Set()
    taken.set(question, answers)
    const words = ['one', 'other'].map((who) => `${who} ${randomUUID()}`)
    await Promise.all(
      words.map(async (text) => {
        const { status, text: told } = await answerPatiently(api, { runId, request, text, key: randomUUID() })
        if (!expected.has(status)) violations.push(`the answer to ${question} answered ${status}: ${told}`)
        if (status === 200) answers.add(Answered.parse(JSON.parse(told)).answer)
      }),
    )
    if (answers.size > 1) violations.push(`${question} took ${answers.size} answers`)
  }

  const working = (async () => {
    while (!closing.signal.aborted) {
      for (const runId of runs) {
        for (const request of await openQuestionsOf(api, runId)) await answer(runId, request)
      }
      await delay(restMs, closing.signal).catch(() => {})
    }
  })()
  return {
    add: (runId) => void runs.add(runId),
    async close() {
      closing.abort()
      await working.catch((error: unknown) => void violations.push(`answering ended: ${String(error)}`))
      return violations
    },
  }
}
