import type { DeliveryInbox, TakenDelivery } from '#code-hosts/delivery-inbox.ts'
import { asAppError } from '#domain/error.ts'
import { delay } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { handleDelivery, type HandleDeps, placeOf } from './handle-delivery.ts'

export type TakeDeps = HandleDeps & {
  inbox: Pick<DeliveryInbox, 'end' | 'take'>
  /** Who takes them: another process takes what this one has left. */
  consumer: string
  log: Pick<Log, 'info' | 'warn'>
}

const atOnce = 8
const restMs = 250
const failedRestMs = 5_000
/** What GitHub or a store did not answer to is tried again after a minute, when nobody else has taken it. */
const retryable = 'is tried again'

/** Handles the webhooks that arrive, until it is stopped. One that cannot be handled now stays in the inbox. */
export function takeDeliveries(deps: TakeDeps): () => Promise<void> {
  const stopping = new AbortController()
  const work = async () => {
    while (!stopping.signal.aborted) {
      const restingMs = await takeWaiting(deps)
        .then((count) => (count === 0 ? restMs : 0))
        .catch((error: unknown) => {
          deps.log.warn('webhooks are not taken', { error: String(error) })
          return failedRestMs
        })
      if (restingMs > 0) await delay(restingMs, stopping.signal).catch(() => {})
    }
  }
  const working = work()
  return async () => {
    stopping.abort()
    await working
  }
}

/** Handles some of what waits; how many it has taken. */
export async function takeWaiting(deps: TakeDeps): Promise<number> {
  const taken = await deps.inbox.take(deps.consumer, atOnce)
  const before = new Map<string, Promise<void>>()
  await Promise.all(
    taken.map(async (one) => {
      // Those of one repository in their order.
      const key = String(one.delivery.repository?.id ?? one.delivery.installationId)
      const turn = (before.get(key) ?? Promise.resolve()).then(() => takeOne(one, deps))
      before.set(key, turn)
      await turn
    }),
  )
  return taken.length
}

/** Never throws: what fails for good ends as failed, and what may pass is left to be taken again. */
async function takeOne(taken: TakenDelivery, deps: TakeDeps): Promise<void> {
  const { delivery } = taken
  const { deliveryId, event } = delivery
  try {
    const { outcome, reason, runId = null, projectId = null } = await handleDelivery(delivery, deps)
    const handled = { deliveryId, event, ...placeOf(delivery), outcome, reason, runId, projectId, at: Date.now() }
    await deps.inbox.end(taken, handled)
    deps.log.info('a webhook was handled', { delivery_id: deliveryId, event, outcome, reason, run_id: runId })
  } catch (error) {
    const fault = asAppError(error, 'HTTP_007')
    const fields = { delivery_id: deliveryId, event, error_code: fault.code, error: fault.message }
    deps.log.warn('a webhook could not be handled', { ...fields, what: fault.retry ? retryable : 'is left' })
    if (fault.retry) return
    const reason = `${fault.code} ${fault.message}`
    const handled = { deliveryId, event, ...placeOf(delivery), outcome: 'failed' as const, reason, runId: null }
    await deps.inbox.end(taken, { ...handled, projectId: null, at: Date.now() }).catch(() => {}) // taken again later
  }
}
