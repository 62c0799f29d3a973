import { AppError, hasCode } from '#domain/error.ts'
import { delay } from '#platform/clock.ts'
import type { ApiClient } from '../api-client.ts'
import { type EventPage, hasEnded, type WireEvent } from '../api-views.ts'

export type Follower = {
  onEvent(event: WireEvent): void
  /** Called after each page's events, also for an empty one: about twice a second while nothing happens. */
  onPage?(page: EventPage): void
}

export type FollowDeps = {
  client: Pick<ApiClient, 'readEvents'>
  signal: AbortSignal
  /** Events up to this number are left out; without it, none are. */
  after?: number
}

const pageSize = 1000
const waitMs = 500
const maxFailuresInRow = 6
const firstPauseMs = 200

/**
 * Calls `follower` with every event of the run, in order and each once, from the one after `after` to the run's end, and
 * returns the status it ended with. A service that does not answer is asked again for about 12 s. Events are read in pages and
 * not from the live stream: a page has a thousand events, passes any proxy, and includes the run's status.
 */
export async function followRun(runId: string, follower: Follower, deps: FollowDeps): Promise<string> {
  for (let last = deps.after ?? 0; ;) {
    const page = await readPage(runId, last, deps)
    for (const event of page.events) follower.onEvent(event)
    follower.onPage?.(page)
    last = page.next_after
    if (page.events.length === 0 && hasEnded(page.run_status)) return page.run_status
  }
}

async function readPage(runId: string, after: number, { client, signal }: FollowDeps): Promise<EventPage> {
  for (let failures = 0; ; failures++) {
    try {
      return await client.readEvents(runId, { after, limit: pageSize, waitMs })
    } catch (error) {
      signal.throwIfAborted()
      const mayPass = hasCode(error, 'CONFIG_006') || (error instanceof AppError && error.retry)
      if (!mayPass || failures >= maxFailuresInRow) throw error
      await delay(firstPauseMs * 2 ** failures, signal)
    }
  }
}
