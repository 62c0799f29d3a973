import { z } from 'zod'
import type { HandledDelivery } from '#code-hosts/delivery.ts'
import { deliveryOf } from '#code-hosts/delivery-of.ts'
import type { DeliveryInbox } from '#code-hosts/delivery-inbox.ts'
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
/** Read again even where all of a page has been seen: a delivery is listed some time after it was sent. */
const overlapMs = 10 * 60_000

/** A round reads so many deliveries at most, the newest first: the app has 5,000 requests an hour for all that it does. */
const mostPages = 200

const Detail = z.looseObject({ request: z.looseObject({ payload: z.unknown() }) })

/**
 * Asks GitHub at intervals which webhooks it has sent, and takes those that never arrived here. Behind a firewall that is the only way.
 * The first round reads three days back, later ones what came since the last round that went through.
 */
export function runReconciler(deps: ReconcileDeps): () => Promise<void> {
  let since = Date.now() - keptMs
  return repeatEvery(deps.everyMs, async () => {
    const begunAt = Date.now()
    try {
      const taken = await reconcile(since, deps)
      since = begunAt - overlapMs
      if (taken > 0) deps.log.info('webhooks that did not arrive were taken', { count: taken })
    } catch (error) {
      deps.log.warn('GitHub was not asked for missed webhooks', { error: String(error) })
    }
  })
}

type Listed = { id: number; guid: string; event: string }

/**
 * Takes what was delivered since then and has not arrived; the oldest first. How many these were. One that cannot be read ends as failed, and does
 * not keep the others away.
 */
export async function reconcile(since: number, deps: Omit<ReconcileDeps, 'everyMs'>): Promise<number> {
  const { app, inbox, log } = deps
  const missed = await orHostError(listMissed(since, deps))
  let taken = 0
  for (const { id, guid, event } of missed.toReversed()) {
    try {
      const asked = app.request('GET /app/hook/deliveries/{delivery_id}', { delivery_id: id })
      const { data } = Detail.safeParse((await orHostError(asked)).data)
      if ((await inbox.put(deliveryOf({ deliveryId: guid, event }, data?.request.payload))) === 'new') taken += 1
    } catch (error) {
      const fault = asAppError(error, 'HTTP_007')
      // With the key at fault, or GitHub away, none can be read.
      if (fault.retry || fault.code === 'HOST_003') throw fault
      log.warn('a missed webhook cannot be taken', { delivery_id: guid, event, error: fault.message })
      await inbox.refuse(refusedAs({ guid, event }, fault))
    }
  }
  return taken
}

/** Each once, the newest first. */
async function listMissed(since: number, { app, inbox, log }: Omit<ReconcileDeps, 'everyMs'>): Promise<Listed[]> {
  const missed = new Map<string, Listed>()
  const pages = app.paginate.iterator('GET /app/hook/deliveries', { per_page: perPage })
  let read = 0
  for await (const { data } of pages) {
    for (const { id, guid, event } of data) {
      if (!missed.has(guid) && !(await inbox.hasSeen(guid))) missed.set(guid, { id: Number(id), guid, event })
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
