import { signal } from '@preact/signals'
import { type Connection, RemoraProblem } from '#client/connection.ts'
import { readStream } from '#client/read-stream.ts'
import { pause } from '#client/timers.ts'
import type { Event, EventCategory, Run } from '#client/wire.ts'

/**
 * How the page is connected. `live`: `missed` events came while it was not, and were shown. `resync`: what was missed is no longer kept, so
 * that all was read anew. `broken`: the service does not answer; it is tried again. `ended`: the run is over. `gone`: it was deleted.
 */
export type Link =
  | { kind: 'connecting' }
  | { kind: 'live'; missed: number; sinceResync: boolean }
  | { kind: 'broken'; error: unknown }
  | { kind: 'ended' }
  | { kind: 'gone' }

export type RunFeed = ReturnType<typeof openRunFeed>

const retryPausesMs = [500, 1_000, 2_000, 5_000]
/** The state is read at most this often while events come: they say that it is another, and not always which. */
const stateEveryMs = 1_000

/** Follows a run until `close`: its state, and the events from now on, each once. */
export function openRunFeed(connection: Connection, runId: string, categories?: readonly EventCategory[]) {
  const closing = new AbortController()
  const run = signal<Run | undefined>(undefined)
  const link = signal<Link>({ kind: 'connecting' })
  const listeners = new Set<(events: readonly Event[]) => void>()
  const path = `/v1/runs/${encodeURIComponent(runId)}`
  const readRun = async () => (run.value = await connection.json<Run>(path, { signal: closing.signal }))
  const state = openRefresh(readRun, closing.signal)

  async function followOnce(after: number): Promise<'end' | 'resync'> {
    for await (const frame of readStream(connection, `${path}/events`, {
      after: `${after}`,
      categories,
      signal: closing.signal,
    })) {
      if (frame.type === 'connected') link.value = { kind: 'live', missed: frame.missed, sinceResync: false }
      if (frame.type === 'event') {
        for (const listener of listeners) listener([frame.event])
        state.wanted()
      }
      if (frame.type === 'resync') return 'resync'
    }
    return 'end'
  }

  async function follow(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted;) {
      try {
        const { seq, ended_at: endedAt } = await readRun()
        if (endedAt !== null) return void (link.value = { kind: 'ended' })
        const how = await followOnce(seq)
        failures = 0
        if (how === 'resync') link.value = { kind: 'live', missed: 0, sinceResync: true }
      } catch (error) {
        if (closing.signal.aborted) return
        if (error instanceof RemoraProblem && error.code === 'RUN_001') return void (link.value = { kind: 'gone' })
        link.value = { kind: 'broken', error }
        await pause(retryPausesMs[Math.min(failures, retryPausesMs.length - 1)] ?? 0, closing.signal).catch(() => {})
        failures += 1
      }
    }
  }

  void follow()
  return {
    run,
    link,
    readAgain: readRun,
    onEvents(listener: (events: readonly Event[]) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => closing.abort(),
  }
}

/** Reads at once when wanted, and then at most every `stateEveryMs`; the last wish is never forgotten. */
function openRefresh(read: () => Promise<unknown>, signalOfEnd: AbortSignal) {
  let isReading = false
  let isWanted = false
  async function run(): Promise<void> {
    isReading = true
    while (isWanted && !signalOfEnd.aborted) {
      isWanted = false
      await read().catch(() => {}) // the stream notices when the service is away
      await pause(stateEveryMs, signalOfEnd).catch(() => {})
    }
    isReading = false
  }
  return {
    wanted() {
      isWanted = true
      if (!isReading) void run()
    },
  }
}
