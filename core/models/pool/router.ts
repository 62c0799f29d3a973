import { AppError } from '#domain/error.ts'
import type { ModelRequest } from '#domain/turn.ts'
import type { LoopThrottle } from '#platform/limit-concurrency.ts'
import { completeWithRetries, type CompleteDeps } from './complete-with-retries.ts'
import { openModelLookup, type ModelLookupOptions } from './model-lookup.ts'
import { openRequestQueue } from './request-queue.ts'
import { openHedgedSend, openSend } from './send-request.ts'

export type RouterOptions = Pick<CompleteDeps, 'retryBudgetMs' | 'clock' | 'random' | 'log'> &
  Pick<ModelLookupOptions, 'servers' | 'onMissing'> & { answers: LoopThrottle; hedgeAfterMs?: number | undefined }

/** Everything that decides which server gets a request, and when; it uses no network and no clock but those it is given. */
export function openRouter({ servers, answers, hedgeAfterMs, onMissing, ...options }: RouterOptions) {
  const { clock } = options
  const queue = openRequestQueue({ servers, clock })
  const lookup = openModelLookup({ servers, clock, onMissing })
  const plain = openSend({ answers, clock })
  const send = hedgeAfterMs === undefined ? plain : openHedgedSend(plain, { queue, clock, afterMs: hedgeAfterMs })
  const afterHangMs = Math.min(hedgeAfterMs ?? Infinity, options.retryBudgetMs / 2)
  const resend: CompleteDeps['resend'] = ({ hasHung, failedAt }) =>
    hasHung() ? openHedgedSend(plain, { queue, clock, afterMs: afterHangMs, failedAt }) : plain
  const closing = new AbortController()
  const deps: CompleteDeps = { ...options, queue, lookup, send, resend, closing: closing.signal }
  return {
    complete: (request: ModelRequest, signal: AbortSignal) => completeWithRetries(request, signal, deps),
    queue,
    lookup,
    /** Ends requests that are queued or in back-off; nothing is retried. */
    close() {
      closing.abort(new AppError('AGENT_002', 'the model pool is closed', { phase: 'model' }))
      queue.close()
    },
  }
}
