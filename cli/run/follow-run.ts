import { AppError, hasCode } from '#domain/error.ts'
import { delay } from '#platform/clock.ts'
import type { EventView } from '#schemas/event-schema.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { ApiClient } from '../api-client.ts'

export type Follower = {
  onEvent(event: EventView): void
  /** Gets the run at first, then every second: what it waits for is no event. Ends the following with what it throws. */
  onRun?(run: RunView): void | Promise<void>
}

export type FollowDeps = {
  client: Pick<ApiClient, 'stream' | 'getRun'>
  signal: AbortSignal
  /** Events up to this number are left out; without it, none are. */
  after?: number
}

const lookMs = 1_000

/**
 * Calls `follower` with every event of the run, in order and each once, from the one after `after` to the run's end, and
 * returns the status it ended with. A service that does not answer is asked again for about 12 s.
 */
export async function followRun(
  runId: string,
  { onEvent, onRun }: Follower,
  { client, signal, after = 0 }: FollowDeps,
): Promise<string> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const looks = onRun && look(() => client.getRun(runId), onRun, either)
  looks?.catch((error: unknown) => over.abort(error))
  try {
    for await (const frame of client.stream(runId, { after: `${after}`, signal: either })) {
      if (frame.type === 'event') onEvent(frame.event)
      if (frame.type === 'end') return frame.status
    }
  } finally {
    over.abort()
    await looks?.catch(() => {})
  }
  throw new AppError('STORE_003', `events of run ${runId} are lost: remora show ${runId} says how it is`)
}

/** Ends quietly with `over`. A service that does not answer is the matter of the stream. */
async function look(
  read: () => Promise<RunView>,
  onRun: NonNullable<Follower['onRun']>,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    const run = await read().catch((error: unknown) => {
      if (!hasCode(error, 'CONFIG_006') && !(error instanceof AppError && error.retry)) throw error
    })
    if (run !== undefined && !over.aborted) await onRun(run)
    await delay(lookMs, over).catch(() => {})
  }
}
