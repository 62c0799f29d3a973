import { z } from 'zod'
import { deliveryOf } from '#code-hosts/delivery-of.ts'
import type { DeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import { hasCode } from '#domain/error.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { type GitHubClient, orHostError } from '#code-hosts/github-client.ts'

export type ReconcileDeps = {
  app: GitHubClient
  inbox: Pick<DeliveryInbox, 'hasSeen' | 'put'>
  everyMs: number
  log: Pick<Log, 'info' | 'warn'>
}

/** GitHub keeps deliveries for three days. */
const keptMs = 3 * 86_400_000
const perPage = 100
/** Read again even where all of a page has been seen: a delivery is listed some time after it was sent. */
const overlapMs = 10 * 60_000

const Detail = z.looseObject({ request: z.looseObject({ payload: z.unknown() }) })

/**
 * Asks GitHub at intervals which webhooks it has sent, and takes those that never arrived here. Behind a firewall that is the only way.
 * The first round reads three days back, later ones what came since.
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

/** Takes what was delivered since then and has not arrived; the oldest first. How many these were. */
export async function reconcile(since: number, { app, inbox, log }: Omit<ReconcileDeps, 'everyMs'>): Promise<number> {
  const missed: { id: number; guid: string; event: string }[] = []
  const pages = app.paginate.iterator('GET /app/hook/deliveries', { per_page: perPage })
  const read = async () => {
    for await (const { data } of pages) {
      for (const { id, guid, event } of data) {
        if (!(await inbox.hasSeen(guid)) && !missed.some((one) => one.guid === guid))
          missed.push({ id: Number(id), guid, event })
      }
      if (data.every(({ delivered_at: at }) => Date.parse(at) < since)) break
    }
  }
  await orHostError(read())
  let taken = 0
  for (const { id, guid, event } of missed.toReversed()) {
    try {
      const asked = app.request('GET /app/hook/deliveries/{delivery_id}', { delivery_id: id })
      const { request } = Detail.parse((await orHostError(asked)).data)
      if ((await inbox.put(deliveryOf({ deliveryId: guid, event }, request.payload))) === 'new') taken += 1
    } catch (error) {
      // One that GitHub does not show any more, or that nobody could read, must not keep the others away.
      if (!hasCode(error, 'HOST_002', 'INTAKE_008')) throw error
      log.warn('a missed webhook cannot be taken', { delivery_id: guid, event, error: String(error) })
    }
  }
  return taken
}
