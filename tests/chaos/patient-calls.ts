import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import { RunId } from '#domain/ids.ts'
import type { RunApi } from '../e2e/run-api.ts'
import type { Submission } from './draw-history.ts'

// What a program that calls the API does while the API comes and goes: the same call again until it is answered.

const Accepted = z.object({ run_id: RunId })
const patienceMs = 60_000
const answerMs = 20_000
const restMs = 100

/** Submits under an idempotency key, so that an answer that was lost makes no second run. */
export async function submitPatiently(
  api: Pick<RunApi, 'ask'>,
  { request, archive, key }: { request: Submission['request']; archive: Uint8Array; key: string },
): Promise<RunId> {
  const answer = await askPatiently(async () => {
    const form = new FormData()
    form.set('request', JSON.stringify(request))
    form.set('archive', new Blob([new Uint8Array(archive)]), 'source.tar.gz')
    return api.ask('/v1/runs', {
      method: 'POST',
      body: form,
      headers: { 'idempotency-key': key },
      signal: AbortSignal.timeout(answerMs),
    })
  })
  if (answer.status !== 202) throw new Error(`POST /v1/runs answered ${answer.status}: ${answer.text}`)
  return Accepted.parse(JSON.parse(answer.text)).run_id
}

/** Answers the HTTP status of the cancel. */
export async function cancelPatiently(api: Pick<RunApi, 'ask'>, runId: RunId): Promise<number> {
  const ask = () => api.ask(`/v1/runs/${runId}/cancel`, { method: 'POST', signal: AbortSignal.timeout(answerMs) })
  return (await askPatiently(ask)).status
}

const Questions = z.object({ questions: z.array(z.object({ request_id: z.string() })) })

/** The open questions of a run, by their ids. */
export async function openQuestionsOf(api: Pick<RunApi, 'ask'>, runId: RunId): Promise<string[]> {
  const answer = await askPatiently(() => api.ask(`/v1/runs/${runId}/questions?status=open`))
  if (answer.status !== 200) throw new Error(`the questions answered ${answer.status}: ${answer.text}`)
  return Questions.parse(JSON.parse(answer.text)).questions.map(({ request_id: id }) => id)
}

/** Under an idempotency key, so that an answer whose reply was lost is given once. */
export async function answerPatiently(
  api: Pick<RunApi, 'ask'>,
  { runId, request, text, key }: { runId: RunId; request: string; text: string; key: string },
): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  const body = JSON.stringify({ answer: text })
  return askPatiently(() =>
    api.ask(`/v1/runs/${runId}/questions/${request}`, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(answerMs),
    }),
  )
}

/** The run's patch; empty when nothing changed. */
export async function patchOf(api: Pick<RunApi, 'ask'>, runId: RunId): Promise<string> {
  const answer = await askPatiently(() => api.ask(`/v1/runs/${runId}/patch`))
  if (answer.status !== 200 && answer.status !== 204)
    throw new Error(`the patch answered ${answer.status}: ${answer.text}`)
  return answer.text
}

/** Asks again while nobody answers or the answer is a server's fault. */
async function askPatiently(ask: () => Promise<Response>): Promise<{ status: number; text: string }> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const answer = await ask()
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch((error: unknown) => ({ status: 599, text: String(error) }))
    if (answer.status < 500 || performance.now() > deadline) return answer
    await delay(restMs)
  }
}
