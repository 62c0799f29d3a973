import { AppError, type ErrorCode } from '#domain/error.ts'
import type { ModelReply, ModelRequest, RequestProgress } from '#domain/turn.ts'
import type { LoopThrottle } from '#platform/limit-concurrency.ts'
import { completeWithRetries, type CompleteDeps } from './complete-with-retries.ts'
import { openModelLookup, type ModelLookupOptions } from './model-lookup.ts'
import { openRequestQueue } from './request-queue.ts'
import { openModelWatch, type ModelWatch } from './model-watch.ts'
import { openRequestsInFlight } from './requests-in-flight.ts'
import { openHedgedSend, openSend, type Send, type TryResult } from './send-request.ts'

export type RouterOptions = Pick<CompleteDeps, 'retryBudgetMs' | 'clock' | 'random' | 'log'> &
  Pick<ModelLookupOptions, 'servers' | 'onMissing'> & {
    answers: LoopThrottle
    hedgeAfterMs?: number | undefined
    onEnd?: ((end: RequestEnd) => void) | undefined
  }

/** `left`: nobody waited for the answer any more. */
export type RequestEnd = { server: string } & (
  | { result: 'ok'; reply: Pick<ModelReply, 'latencyMs' | 'firstTokenMs' | 'usage'> }
  | { result: ErrorCode | 'left' }
)

/** Decides which server gets a request, and when. It uses no network and no clock but those it is given. */
export function openRouter({ servers, answers, hedgeAfterMs, onMissing, onEnd, ...options }: RouterOptions) {
  const { clock } = options
  const queue = openRequestQueue({ servers, clock, isAway: (model) => health.isAway(model) })
  const lookup = openModelLookup({ servers, clock, onMissing })
  const closing = new AbortController()
  const inFlight = openRequestsInFlight({
    clock,
    closing: closing.signal,
    isSilentAlone: (server, model) => health.isSilentAlone(server, model),
    onChange: queue.recheck,
  })
  const changes = {
    onChange: queue.recheck,
    onBack: inFlight.giveUpOld,
    onAway: inFlight.giveUpSilent,
    onSilence: inFlight.suspect,
  }
  const health = openModelWatch({ ...options, ...changes, servers, closing: closing.signal })
  const plain = openNotedSend(inFlight.tracked(openSend({ answers, clock })), { health, onEnd })
  const send = hedgeAfterMs === undefined ? plain : openHedgedSend(plain, { queue, clock, afterMs: hedgeAfterMs })
  const afterHangMs = Math.min(hedgeAfterMs ?? Infinity, options.retryBudgetMs / 2)
  const resend: CompleteDeps['resend'] = ({ hasHung, failedAt }) =>
    hasHung() ? openHedgedSend(plain, { queue, clock, afterMs: afterHangMs, failedAt }) : plain
  const { answers: hasModel } = health
  const deps: CompleteDeps = { ...options, queue, lookup, send, resend, answers: hasModel, closing: closing.signal }
  return {
    complete: (request: ModelRequest, signal: AbortSignal, progress?: RequestProgress) =>
      health.guard(request.model, () => completeWithRetries(request, signal, { ...deps, progress })),
    queue,
    health,
    close() {
      closing.abort(new AppError('AGENT_002', 'the model pool is closed', { phase: 'model' }))
      queue.close()
    },
  }
}

type Noting = Pick<RouterOptions, 'onEnd'> & { health: Pick<ModelWatch, 'note'> }

function openNotedSend(send: Send, { health, onEnd }: Noting): Send {
  return async (reservation, request, signal, onSend) => {
    const result = await send(reservation, request, signal, onSend)
    if (!signal.aborted) health.note(result, request.model, 'failure' in result ? result.failure : undefined)
    onEnd?.(endOf(result, signal))
    return result
  }
}

function endOf(result: TryResult, signal: AbortSignal): RequestEnd {
  const server = result.server.name
  if ('reply' in result) return { server, result: 'ok', reply: result.reply }
  return { server, result: signal.aborted ? 'left' : result.failure.error.code }
}
