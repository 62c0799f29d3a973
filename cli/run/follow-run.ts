import { AppError, hasCode } from '#domain/error.ts'
import { delay } from '#platform/clock.ts'
import { isEnded } from '#domain/run.ts'
import type { EventPage, EventView } from '#schemas/event-schema.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { ApiClient } from '../api-client.ts'

export type Follower = {
  onEvent(event: EventView): void
  /** Called after each page's events, also for an empty one: about twice a second while nothing happens. */
  onPage?(page: EventPage): void
  /** Says whether to read after a page, every two seconds at most, what the run waits for; `onRun` gets it. */
  isWaiting?(): boolean
  /** Ends the following with what it throws. */
  onRun?(run: RunView): void | Promise<void>
}

export type FollowDeps = {
  client: Pick<ApiClient, 'readEvents' | 'getRun'>
  signal: AbortSignal
  /** Events up to this number are left out; without it, none are. */
  after?: number
}

const pageSize = 1000
const waitMs = 500
const maxFailuresInRow = 6
const firstPauseMs = 200
const lookMs = 2_000

/**
 * Calls `follower` with every event of the run, in order and each once, from the one after `after` to the run's end, and
 * returns the status it ended with. A service that does not answer is asked again for about 12 s. Events are read in pages and
 * not from the live stream: a page has a thousand events, passes any proxy, and includes the run's status.
 */
export async function followRun(runId: string, follower: Follower, deps: FollowDeps): Promise<string> {
  const { client, signal } = deps
  let lookedAt = -Infinity
  for (let last = deps.after ?? 0; ;) {
    const wanted = { after: last, limit: pageSize, waitMs }
    const page = await patiently(() => client.readEvents(runId, wanted), signal)
    for (const event of page.events) follower.onEvent(event)
    follower.onPage?.(page)
    last = page.next_after
    if (page.events.length === 0 && isEnded(page.run_status)) return page.run_status
    if (follower.isWaiting?.() !== true || performance.now() - lookedAt < lookMs) continue
    lookedAt = performance.now()
    await follower.onRun?.(await patiently(() => client.getRun(runId), signal))
  }
}

async function patiently<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await read()
    } catch (error) {
      signal.throwIfAborted()
      const mayPass = hasCode(error, 'CONFIG_006') || (error instanceof AppError && error.retry)
      if (!mayPass || failures >= maxFailuresInRow) throw error
      await delay(firstPauseMs * 2 ** failures, signal)
    }
  }
}
