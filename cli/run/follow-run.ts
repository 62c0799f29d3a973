import { AppError } from '#domain/error.ts'
import { delay } from '#platform/clock.ts'
import type { ApiClient } from '../api-client.ts'
import type { EventPage, WireEvent } from '../api-views.ts'
import { hasEnded } from '../has-ended.ts'

export type Follower = {
  onEvent(event: WireEvent): void
  /** After each page, also an empty one: about twice a second while nothing happens. */
  onPage?(): void
}

export type FollowDeps = {
  client: Pick<ApiClient, 'readEvents'>
  signal: AbortSignal
  /** The number of the last event that is not wanted; without it, all are. */
  after?: number
}

const pageSize = 1000
const waitMs = 500
const failuresInRow = 6
const firstPauseMs = 200

/**
 * Tells `follower` every event of the run, in order, each once, from the one after `after` to the run's end;
 * resolves to the status it ended with. A service that does not answer is asked again for about 12 s. It asks for pages instead of the
 * live stream: they come a thousand events at a time, through any proxy, and each tells how the run stands.
 */
export async function followRun(runId: string, follower: Follower, deps: FollowDeps): Promise<string> {
  for (let last = deps.after ?? 0; ;) {
    const page = await readPage(runId, last, deps)
    for (const event of page.events) follower.onEvent(event)
    follower.onPage?.()
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
      if (!mayPass(error) || failures >= failuresInRow) throw error
      await delay(firstPauseMs * 2 ** failures, signal)
    }
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof AppError && (error.retry || error.code === 'CONFIG_006')
}
