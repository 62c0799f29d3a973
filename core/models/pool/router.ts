import { AppError } from '#domain/error.ts'
import type { ModelRequest, RequestProgress } from '#domain/turn.ts'
import type { LoopThrottle } from '#platform/limit-concurrency.ts'
import { completeWithRetries, type CompleteDeps } from './complete-with-retries.ts'
import { openModelLookup, type ModelLookupOptions } from './model-lookup.ts'
import { openRequestQueue } from './request-queue.ts'
import { openModelWatch, type ModelWatch } from './model-watch.ts'
import { openRequestsInFlight } from './requests-in-flight.ts'
import { openHedgedSend, openSend, type Send } from './send-request.ts'

export type RouterOptions = Pick<CompleteDeps, 'retryBudgetMs' | 'clock' | 'random' | 'log'> &
  Pick<ModelLookupOptions, 'servers' | 'onMissing'> & {
    answers: LoopThrottle
    hedgeAfterMs?: number | undefined
  }

/** Everything that decides which server gets a request, and when; it uses no network and no clock but those it is given. */
export function openRouter({ servers, answers, hedgeAfterMs, onMissing, ...options }: RouterOptions) {
  const { clock } = options
  const queue = openRequestQueue({ servers, clock, isAway: (model) => health.isAway(model) })
  const lookup = openModelLookup({ servers, clock, onMissing })
  const closing = new AbortController()
  const inFlight = openRequestsInFlight({ clock, closing: closing.signal, onSilent: (model) => health.doubt(model) })
  const changes = { onChange: queue.recheck, onBack: inFlight.giveUpOld, onAway: inFlight.giveUpSilent }
  const health = openModelWatch({ ...options, ...changes, servers, closing: closing.signal })
  const plain = openNotedSend(inFlight.tracked(openSend({ answers, clock })), health)
  const send = hedgeAfterMs === undefined ? plain : openHedgedSend(plain, { queue, clock, afterMs: hedgeAfterMs })
  const afterHangMs = Math.min(hedgeAfterMs ?? Infinity, options.retryBudgetMs / 2)
  const resend: CompleteDeps['resend'] = ({ hasHung, failedAt }) =>
    hasHung() ? openHedgedSend(plain, { queue, clock, afterMs: afterHangMs, failedAt }) : plain
  const deps: CompleteDeps = { ...options, queue, lookup, send, resend, closing: closing.signal }
  return {
    complete: (request: ModelRequest, signal: AbortSignal, progress?: RequestProgress) =>
      health.guard(request.model, () => completeWithRetries(request, signal, { ...deps, progress })),
    queue,
    lookup,
    health,
    /** Ends requests that are queued or in back-off; nothing is retried. */
    close() {
      closing.abort(new AppError('AGENT_002', 'the model pool is closed', { phase: 'model' }))
      queue.close()
    },
  }
}

function openNotedSend(send: Send, health: Pick<ModelWatch, 'note'>): Send {
  return async (reservation, request, signal, onSend) => {
    const result = await send(reservation, request, signal, onSend)
    if (!signal.aborted) health.note(result, request.model, 'failure' in result ? result.failure : undefined)
    return result
  }
}
