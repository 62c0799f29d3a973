import { CodeHostBusy, pauseAfter } from '#code-hosts/code-host-busy.ts'
import { type DeliveryInbox, isOverdue, type TakenDelivery } from '#code-hosts/delivery-inbox.ts'
import { AppRefused } from '#code-hosts/github-client.ts'
import { asAppError } from '#domain/error.ts'
import { delay, repeatEvery } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { openDeliveryQueue } from './delivery-queue.ts'
import { handleDelivery, type HandleDeps, placeOf } from './handle-delivery.ts'

export type TakeDeps = HandleDeps & {
  inbox: Pick<DeliveryInbox, 'end' | 'keep' | 'keepMs' | 'leave' | 'take'>
  /** Another process takes what this one has left. */
  consumer: string
  log: Pick<Log, 'info' | 'warn'>
}

/** A delivery may wait for a minute, while GitHub asks for a pause. */
const places = { all: 16, ofInstallation: 2 }
const takenAtOnce = 100
/** A delivery is some kB. Beyond so many, an installation that has them all keeps others waiting. */
const mostInHand = 10_000
const restMs = 250
const failedRestMs = 5_000
const leastPauseMs = 1_000
/** GitHub is asked again so much later when it has refused the app itself. */
const refusedPauseMs = 60_000

/** What is not begun when it stops is left. What cannot be handled now stays in the inbox. */
export function takeDeliveries(deps: TakeDeps): () => Promise<void> {
  const stopping = new AbortController()
  const handling = openHandling(deps, stopping.signal)
  const work = async () => {
    while (!stopping.signal.aborted) {
      const restingMs = await handling
        .takeMore()
        .then((count) => (count === 0 ? restMs : 0))
        .catch((error: unknown) => {
          deps.log.warn('webhooks are not taken', { error: String(error) })
          return failedRestMs
        })
      if (restingMs > 0) await delay(restingMs, stopping.signal).catch(() => {})
    }
  }
  const working = work()
  const stopKeeping = repeatEvery(deps.inbox.keepMs, handling.keep)
  return async () => {
    stopping.abort()
    await working
    await handling.ended()
    await stopKeeping()
    await handling.leave()
  }
}

/** It returns how many it has taken. */
export async function takeWaiting(deps: TakeDeps): Promise<number> {
  const handling = openHandling(deps, new AbortController().signal)
  const count = await handling.takeMore()
  await handling.ended()
  return count
}

/** Begins with nothing more once `stopping` is aborted. */
function openHandling(deps: TakeDeps, stopping: AbortSignal) {
  const { inbox, consumer } = deps
  const queue = openDeliveryQueue(places)
  let refusedUntil = 0
  const running = new Set<Promise<void>>()
  const startNext = () => {
    if (refusedUntil > Date.now()) return
    for (let delivery = queue.next(Date.now()); delivery !== undefined; delivery = queue.next(Date.now())) {
      const ending = takeOne(delivery).finally(() => running.delete(ending))
      running.add(ending)
    }
  }
  const takeOne = async (taken: TakenDelivery) => {
    const pause = await handleTaken(taken, deps)
    if (pause === undefined) queue.end(taken)
    else if (pause.of === 'installation') queue.pause(taken, Date.now() + pause.ms)
    else {
      queue.pause(taken, Date.now())
      // Those that were at work at the same time say the same.
      if (refusedUntil <= Date.now())
        deps.log.warn('GitHub refuses the App itself: all webhooks wait', { error: pause.fault })
      refusedUntil = Date.now() + pause.ms
    }
    if (!stopping.aborted) startNext()
  }
  const ended = async () => {
    while (running.size > 0) await Promise.all(running)
  }
  return {
    /** It takes what there is room for, and returns how many are new. */
    async takeMore(): Promise<number> {
      const room = Math.min(takenAtOnce, mostInHand - queue.size())
      const count = room <= 0 ? 0 : queue.add(await inbox.take(consumer, room))
      if (!stopping.aborted) startNext()
      return count
    },
    async keep(): Promise<void> {
      queue.drop(new Set(await inbox.keep(consumer, queue.entries())))
    },
    ended,
    async leave(): Promise<void> {
      await inbox.leave(consumer, queue.entries()).catch(() => {}) // taken again a little later
    },
  }
}

type Pause = { of: 'installation'; ms: number } | { of: 'app'; ms: number; fault: string }

/** Never throws: what fails for good ends as failed, what may pass is taken again. Returns how long GitHub asks to wait. */
async function handleTaken(taken: TakenDelivery, deps: TakeDeps): Promise<Pause | undefined> {
  const { delivery } = taken
  const { deliveryId, event } = delivery
  try {
    const { outcome, reason, runId = null, projectId = null } = await handleDelivery(delivery, deps)
    const handled = { deliveryId, event, ...placeOf(delivery), outcome, reason, runId, projectId, at: Date.now() }
    await deps.inbox.end(taken, handled)
    deps.log.info('a webhook was handled', { delivery_id: deliveryId, event, outcome, reason, run_id: runId })
  } catch (error) {
    const fault = asAppError(error, 'HTTP_007')
    // People will mend the key, or the clock, and the webhook will not come again.
    const isOfApp = fault instanceof AppRefused
    const mayPass = (fault.retry || isOfApp) && !isOverdue(taken)
    if (mayPass && isOfApp) return { of: 'app', ms: refusedPauseMs, fault: fault.message }
    const fields = { delivery_id: deliveryId, event, error_code: fault.code, error: fault.message }
    deps.log.warn('a webhook could not be handled', { ...fields, what: mayPass ? 'is tried again' : 'is left' })
    if (mayPass && fault instanceof CodeHostBusy) return { of: 'installation', ms: pauseAfter(fault, leastPauseMs) }
    if (mayPass) return undefined
    await endAsFailed(taken, `${fault.code} ${fault.message}`, deps).catch(() => {}) // taken again later
  }
  return undefined
}

async function endAsFailed(taken: TakenDelivery, reason: string, { inbox, installations }: TakeDeps): Promise<void> {
  const { deliveryId, event, installationId } = taken.delivery
  const { projectId = null } = (installationId === null ? undefined : await installations.find(installationId)) ?? {}
  const failed = { outcome: 'failed', reason, runId: null, projectId, at: Date.now() } as const
  await inbox.end(taken, { deliveryId, event, ...placeOf(taken.delivery), ...failed })
}
