import type { ModelReply, ModelRequest } from '#domain/turn.ts'
import { msSince, type Clock } from '#platform/clock.ts'
import type { LoopThrottle } from '#platform/limit-concurrency.ts'
import { allCapabilities, mayBeRefused } from '../wire/capabilities.ts'
import { fromOpenAi } from '../wire/from-openai.ts'
import { toTryFailure, type TryFailure } from '../wire/try-failure.ts'
import type { RequestQueue } from './request-queue.ts'
import type { Endpoint } from './servers/server-endpoint.ts'
import { requestEndOf, type PooledServer, type Reservation } from './servers/pooled-server.ts'

/** Sends a request over a reservation and releases that. Calls `onSend` when it is sent, after a probe. Never rejects. */
export type Send = (
  reservation: Reservation,
  request: ModelRequest,
  signal: AbortSignal,
  onSend?: () => void,
) => Promise<TryResult>

/** Says how one try ended. `requestsSent` is 2 when it was hedged. `sentAt` is a time of the clock. */
export type TryResult = { server: PooledServer; requestsSent: number; sentAt: number } & (
  | { reply: TryReply }
  | { failure: TryFailure }
) & {
    otherFailure?: FailedRequest | undefined
  }

type TryReply = Omit<ModelReply, 'endpoint' | 'tries' | 'failedTries'>
export type FailedRequest = { server: PooledServer; failure: TryFailure; sentAt: number }

/** The slot is released before the answer is read; answers that arrive together are read one by one, after queued requests. */
export function openSend({ answers, clock }: { answers: LoopThrottle; clock: Pick<Clock, 'now'> }): Send {
  return async ({ server, release, report }, request, signal, onSend) => {
    let sentAt = clock.now()
    const sending = () => {
      sentAt = clock.now()
      onSend?.()
    }
    try {
      const answer = await askServer(server.endpoint, request, signal, sending).finally(release)
      await answers.pass()
      const reply = readReply(answer, request)
      report('good')
      return { server, requestsSent: 1, sentAt, reply }
    } catch (error) {
      const failure = toTryFailure(error)
      report(signal.aborted ? 'left' : requestEndOf(failure), failure.retryAfterMs)
      return { server, requestsSent: 1, sentAt, failure }
    }
  }
}

async function askServer(endpoint: Endpoint, request: ModelRequest, signal: AbortSignal, sending: () => void) {
  const capabilities = mayBeRefused(request) ? await endpoint.capabilities(request.model, signal) : allCapabilities
  sending()
  const start = performance.now()
  const answer = await endpoint.ask(request, capabilities, signal)
  return { ...answer, latencyMs: msSince(start) }
}

function readReply({ raw, workarounds, ...timing }: Awaited<ReturnType<typeof askServer>>, request: ModelRequest) {
  const reply = fromOpenAi(raw, request)
  return { ...reply, ...timing, workarounds: [...workarounds, ...reply.workarounds] }
}

export type HedgeOptions = {
  queue: Pick<RequestQueue, 'reserveNow'>
  clock: Clock
  afterMs: number
  failedAt?: ReadonlySet<PooledServer>
}

/** Sends a request also to another server when the first has not answered after `afterMs`; the first good answer wins. */
export function openHedgedSend(send: Send, { queue, clock, afterMs, failedAt }: HedgeOptions): Send {
  return async (reservation, request, signal, onSend) => {
    const decided = new AbortController()
    const either = AbortSignal.any([signal, decided.signal])
    const sent = Promise.withResolvers<void>()
    const first = send(reservation, request, either, () => {
      sent.resolve()
      onSend?.()
    })
    const late = sent.promise.then(() => clock.delay(afterMs, either))
    try {
      const result = await Promise.race([first, late])
      if (result !== undefined) return result
      const { model, prefixKey = model, share } = request
      const other = queue.reserveNow({ model, key: prefixKey, share, avoid: reservation.server, failedAt })
      if (other === undefined) return await first
      return { ...(await firstReply(first, send(other, request, either))), requestsSent: 2 }
    } catch {
      return await first // aborted during the delay, so it has ended, too
    } finally {
      decided.abort(new Error('another server has answered'))
    }
  }
}

async function firstReply(...both: readonly [Promise<TryResult>, Promise<TryResult>]): Promise<TryResult> {
  const winner = await Promise.race(both)
  if ('reply' in winner) return winner
  const [first, second] = await Promise.all(both)
  return 'reply' in first ? withFailureOf(first, second) : withFailureOf(second, first)
}

function withFailureOf(result: TryResult, other: TryResult): TryResult {
  return 'failure' in other ? { ...result, otherFailure: other } : result
}
