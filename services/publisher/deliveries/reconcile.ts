import { z } from 'zod'
import type { HandledDelivery } from '#code-hosts/delivery.ts'
import { deliveryOf } from '#code-hosts/delivery-of.ts'
import type { DeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import { CodeHostBusy } from '#code-hosts/code-host-busy.ts'
import { type AppError, asAppError } from '#domain/error.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { type GitHubClient, orHostError } from '#code-hosts/github-client.ts'

export type ReconcileDeps = {
  app: GitHubClient
  inbox: Pick<DeliveryInbox, 'hasSeen' | 'put' | 'refuse'>
  everyMs: number
  log: Pick<Log, 'info' | 'warn'>
}

/** GitHub keeps deliveries for three days. */
const keptMs = 3 * 86_400_000
const perPage = 100
/** So much is read again even where all of a page has been seen: a delivery is listed some time after it was sent. */
const overlapMs = 10 * 60_000

/** After so many in a row that GitHub did not answer for, it is taken to be away. */
const mostUnanswered = 10

/** A round reads so many deliveries at most, the newest first: the app has 5,000 requests an hour for all that it does. */
const mostPages = 200

const Detail = z.looseObject({ request: z.looseObject({ payload: z.unknown() }) })

/** Behind a firewall webhooks come this way alone. The first round reads three days back. */
export function runReconciler(deps: ReconcileDeps): () => Promise<void> {
  let since = Date.now() - keptMs
  return repeatEvery(deps.everyMs, async () => {
    const begunAt = Date.now()
    try {
      const { taken, leftSince } = await reconcile(since, deps)
      since = Math.min(begunAt - overlapMs, leftSince)
      if (taken > 0) deps.log.info('webhooks that did not arrive were taken', { count: taken })
    } catch (error) {
      deps.log.warn('GitHub was not asked for missed webhooks', { error: String(error) })
    }
  })
}

type Listed = { id: number; guid: string; event: string; at: number }
/** `leftSince` is when GitHub sent the oldest one that it does not answer for, in ms since the epoch; Infinity where there is none. */
type Reconciled = { taken: number; leftSince: number }

/** Takes the oldest first. What cannot be read ends as failed; what GitHub does not answer for is left to the next round. */
export async function reconcile(since: number, deps: Omit<ReconcileDeps, 'everyMs'>): Promise<Reconciled> {
  const { app, inbox, log } = deps
  const missed = await orHostError(listMissed(since, deps))
  let [taken, unanswered, leftSince] = [0, 0, Infinity]
  for (const { id, guid, event, at } of missed.toReversed()) {
    try {
      const answer = app.request('GET /app/hook/deliveries/{delivery_id}', { delivery_id: id })
      const { data } = Detail.safeParse((await orHostError(answer)).data)
      if ((await inbox.put(deliveryOf({ deliveryId: guid, event }, data?.request.payload))) === 'new') taken += 1
      unanswered = 0
    } catch (error) {
      const fault = asAppError(error, 'HTTP_007')
      if (isOfAll(fault)) throw fault
      log.warn('a missed webhook cannot be taken', { delivery_id: guid, event, error: fault.message })
      if (fault.retry) {
        leftSince = Math.min(leftSince, at)
        unanswered += 1
        if (unanswered === mostUnanswered) throw fault
      } else {
        await inbox.refuse(refusedAs({ guid, event }, fault))
        unanswered = 0
      }
    }
  }
  return { taken, leftSince }
}

/** Is true when no delivery can be taken: the key is at fault, a limit lasts, or a store is away. */
function isOfAll(fault: AppError): boolean {
  return fault instanceof CodeHostBusy || fault.code === 'HOST_003' || (fault.retry && fault.code !== 'HOST_001')
}

/** Lists each missed webhook once, the newest first. */
async function listMissed(since: number, { app, inbox, log }: Omit<ReconcileDeps, 'everyMs'>): Promise<Listed[]> {
  const missed = new Map<string, Listed>()
  const pages = app.paginate.iterator('GET /app/hook/deliveries', { per_page: perPage })
  let read = 0
  for await (const { data } of pages) {
    for (const { id, guid, event, delivered_at: at } of data) {
      if (missed.has(guid) || (await inbox.hasSeen(guid))) continue
      missed.set(guid, { id: Number(id), guid, event, at: Date.parse(at) })
    }
    if (data.every(({ delivered_at: at }) => Date.parse(at) < since)) break
    read += 1
    if (read < mostPages) continue
    log.warn('too many webhooks were sent: older ones that did not arrive are not taken', { read: read * perPage })
    break
  }
  return [...missed.values()]
}

function refusedAs({ guid, event }: Pick<Listed, 'guid' | 'event'>, { code, message }: AppError): HandledDelivery {
  const of = { deliveryId: guid, event, action: null, repository: null, ref: null, runId: null, projectId: null }
  return { ...of, outcome: 'failed', reason: `${code} ${message}`, at: Date.now() }
}
