import { AppError } from '#domain/error.ts'
import type { ModelReply, ModelRequest } from '#domain/turn.ts'
import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { Turnstile } from '#platform/turnstile.ts'
import { completeWithin, type CompleteDeps } from './complete-within.ts'
import { openModelOffers, type ModelOffers } from './model-offers.ts'
import type { Replica } from './replicas/replica.ts'
import { sendHedged } from './send-hedged.ts'
import { trySeat } from './try-seat.ts'
import { openWaitingLine, type WaitingLine } from './line/waiting-line.ts'

/** All that decides which server is asked, and when; it knows no network and no clock but those it is given. */
export type Router = {
  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>
  line: WaitingLine
  offers: ModelOffers
  /** Who waits or rests is sent away, and nothing is tried again. */
  close(): void
}

export type RouterOptions = {
  replicas: readonly Replica[]
  answers: Turnstile
  retryBudgetMs: number
  hedgeAfterMs?: number | undefined
  /** Told of a model that no server has, as far as they are up. */
  missing?: ((model: string) => void) | undefined
  clock: Clock
  /** From 0 to 1. */
  random(): number
  log?: Pick<Log, 'warn'> | undefined
}

export function openRouter({ replicas, answers, hedgeAfterMs, missing, ...options }: RouterOptions): Router {
  const { clock } = options
  const line = openWaitingLine({ replicas, clock })
  const offers = openModelOffers({ replicas, clock, missing })
  const sendOnce: CompleteDeps['send'] = (seat, request, signal, sending) =>
    trySeat(seat, request, signal, { answers, clock, sending })
  const send = hedgeAfterMs === undefined ? sendOnce : sendHedged(sendOnce, { line, clock, afterMs: hedgeAfterMs })
  const closing = new AbortController()
  const deps: CompleteDeps = { ...options, line, offers, send, sendAgain: sendOnce, closing: closing.signal }
  return {
    complete: (request, signal) => completeWithin(request, signal, deps),
    line,
    offers,
    close() {
      closing.abort(new AppError('AGENT_002', 'the model pool is closed', { phase: 'model' }))
      line.close()
    },
  }
}
