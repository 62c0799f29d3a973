import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import type { Event } from '#domain/event.ts'
import { RunId } from '#domain/ids.ts'
import type { RunApi } from '../run-api.ts'
import type { Submission } from './draw-history.ts'

// Callers of the API that repeat a call until it is answered, because the API is killed and restarted meanwhile.

const Accepted = z.object({ run_id: RunId })
/** Longer than the longest cut of the API's network, and what its connections take to notice the end of it. */
const retryMs = 120_000
const answerMs = 20_000
const restMs = 100

const within = () => ({ signal: AbortSignal.timeout(answerMs) })

/** Submits with an idempotency key, so that repeating after a lost answer makes no second run. */
export async function submitWithRetries(
  api: Pick<RunApi, 'ask'>,
  { request, archive, key }: { request: Submission['request']; archive: Uint8Array; key: string },
): Promise<RunId> {
  const answer = await askWithRetries(async () => {
    const form = new FormData()
    form.set('request', JSON.stringify(request))
    form.set('archive', new Blob([new Uint8Array(archive)]), 'source.tar.gz')
    return api.ask('/v1/runs', {
      method: 'POST',
      body: form,
      headers: { 'idempotency-key': key },
      ...within(),
    })
  })
  if (answer.status !== 202) throw new Error(`POST /v1/runs answered ${answer.status}: ${answer.text}`)
  return Accepted.parse(JSON.parse(answer.text)).run_id
}

/** Returns the HTTP status of the cancel. */
export async function cancelWithRetries(api: Pick<RunApi, 'ask'>, runId: RunId): Promise<number> {
  const ask = () => api.ask(`/v1/runs/${runId}/cancel`, { method: 'POST', ...within() })
  return (await askWithRetries(ask)).status
}

const Questions = z.object({ questions: z.array(z.object({ request_id: z.string() })) })

/** The open questions of a run, by their ids. */
async function openQuestionsOf(api: Pick<RunApi, 'ask'>, runId: RunId): Promise<string[]> {
  const answer = await askWithRetries(() => api.ask(`/v1/runs/${runId}/questions?status=open`, within()))
  if (answer.status !== 200) throw new Error(`the questions answered ${answer.status}: ${answer.text}`)
  return Questions.parse(JSON.parse(answer.text)).questions.map(({ request_id: id }) => id)
}

/** Answers with an idempotency key, so that repeating after a lost reply answers once. */
async function answerWithRetries(
  api: Pick<RunApi, 'ask'>,
  { runId, request, text, key }: { runId: RunId; request: string; text: string; key: string },
): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  const body = JSON.stringify({ answer: text })
  return askWithRetries(() =>
    api.ask(`/v1/runs/${runId}/questions/${request}`, {
      method: 'POST',
      headers,
      body,
      ...within(),
    }),
  )
}

/** Adds to the objective of a run, which has nobody who would hear until its files are stored, or asks about it. Returns the HTTP status. */
export async function tellWithRetries(
  api: Pick<RunApi, 'ask'>,
  { runId, to, text, key }: { runId: RunId; to: 'messages' | 'asks'; text: string; key: string },
): Promise<number> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  const body = JSON.stringify({ text })
  const ask = () => api.ask(`/v1/runs/${runId}/${to}`, { method: 'POST', headers, body, ...within() })
  return (await askWithRetries(ask)).status
}

/** Looks once for the answer to all that was asked about a run, by its events. Returns the ids of what is open. */
export async function openAsksOf(
  api: Pick<RunApi, 'ask'>,
  { runId, events }: { runId: RunId; events: readonly Event[] },
): Promise<string[]> {
  const asked = new Set(events.flatMap(({ event, data }) => (event === 'ask.received' ? String(data['ask_id']) : [])))
  for (const { event, data } of events)
    if (event === 'ask.answered' || event === 'ask.failed') asked.delete(String(data['ask_id']))
  // Whoever looks for the answer to one has it answered, where its job was lost.
  await Promise.all([...asked].map((id) => askWithRetries(() => api.ask(`/v1/runs/${runId}/asks/${id}`, within()))))
  return [...asked]
}

/** The run's patch, of all that is proposed or of what is accepted; empty when nothing changed. */
export async function patchOf(
  api: Pick<RunApi, 'ask'>,
  runId: RunId,
  of: 'proposed' | 'accepted' = 'proposed',
): Promise<string> {
  const answer = await askWithRetries(() => api.ask(`/v1/runs/${runId}/patch?of=${of}`, within()))
  if (answer.status !== 200 && answer.status !== 204)
    throw new Error(`the patch answered ${answer.status}: ${answer.text}`)
  return answer.text
}

/** Repeats the call while there is no answer, or one with a status of 500 or more. */
async function askWithRetries(ask: () => Promise<Response>): Promise<{ status: number; text: string }> {
  const deadline = performance.now() + retryMs
  for (;;) {
    const answer = await ask()
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch((error: unknown) => ({ status: 599, text: String(error) }))
    if (answer.status < 500 || performance.now() > deadline) return answer
    await delay(restMs)
  }
}

/** The people who answer what a history's agents ask. */
type Answerers = {
  /** Its questions are answered from now on. */
  add(runId: RunId): void
  /** Returns the violations: a question that took two answers, or an answer that was refused for no reason. */
  close(): Promise<string[]>
}

const roundMs = 150
/** Accepted; or refused because another answer was accepted, the time is over or the run has ended. */
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
        const { status, text: reply } = await answerWithRetries(api, { runId, request, text, key: randomUUID() })
        if (!expected.has(status)) violations.push(`the answer to ${question} answered ${status}: ${reply}`)
        if (status === 200) answers.add(Answered.parse(JSON.parse(reply)).answer)
      }),
    )
    if (answers.size > 1) violations.push(`${question} took ${answers.size} answers`)
  }

  const working = (async () => {
    while (!closing.signal.aborted) {
      for (const runId of runs) {
        for (const request of await openQuestionsOf(api, runId)) await answer(runId, request)
      }
      await delay(roundMs, closing.signal).catch(() => {})
    }
  })().catch((error: unknown) => void violations.push(`answering ended: ${String(error)}`))
  return {
    add: (runId) => void runs.add(runId),
    async close() {
      closing.abort()
      await working
      return violations
    },
  }
}
