import { signal } from '@preact/signals'
import { type Connection, RemoraProblem } from '#client/connection.ts'
import { readStream } from '#client/read-stream.ts'
import { pause } from '#client/timers.ts'
import type { Event, Run } from '#client/wire.ts'
import { openRefresh } from './refresh.ts'
import { whileAwake } from './while-awake.ts'

/**
 * How the page is connected. `live`: `missed` events came while it was not, and were shown. `isAnew`: what was missed is no longer kept, or is
 * too much to be told one by one, so that all is read anew. `broken`: the service does not answer; it is tried again. `ended`: the run is over, and
 * what people still do with it is followed. `gone`: it was deleted, or never was.
 */
export type Link =
  | { kind: 'connecting' }
  | { kind: 'live'; missed: number; isAnew: boolean }
  | { kind: 'broken'; error: unknown }
  | { kind: 'ended' }
  | { kind: 'gone' }

export type RunFeed = ReturnType<typeof openRunFeed>

const retryPausesMs = [500, 1_000, 2_000, 5_000]
/** The state is read at most this often while events come: they say that it is another, and not always which. */
const stateEveryMs = 1_000
/** More than so many events are not told one by one after a pause. */
const mostTold = 2_000
/** What may still happen to a run that has ended. */
const afterEnd = ['run_lifecycle', 'decision', 'failed'] as const

/**
 * Follows a run until `close`: its state, and the events from now on, each once and in order. `era` counts how often events were left out: who
 * keeps something that it made of events reads it anew then.
 */
export function openRunFeed(connection: Connection, runId: string) {
  const closing = new AbortController()
  const run = signal<Run | undefined>(undefined)
  const link = signal<Link>({ kind: 'connecting' })
  const era = signal(0)
  const listeners = new Set<(events: readonly Event[]) => void>()
  const path = `/v1/runs/${encodeURIComponent(runId)}`
  const readRun = async () => (run.value = await connection.json<Run>(path, { signal: closing.signal }))
  const stateChanged = openRefresh(readRun, stateEveryMs, closing.signal)
  /** The number of the last event that was told; undefined before the first connection. */
  let told: number | undefined
  let isLost = false

  function tell(event: Event): void {
    told = event.seq
    for (const listener of listeners) listener([event])
    stateChanged()
  }

  /** Follows the run to its end, or until its events have to be left out. */
  async function followLive(signal: AbortSignal): Promise<void> {
    const { seq, ended_at: endedAt } = await readRun()
    const isAnew = told !== undefined && (isLost || seq - told > mostTold)
    let isFirst = told === undefined
    if (isAnew) era.value += 1
    if (isAnew || told === undefined) told = seq
    isLost = false
    for await (const frame of readStream(connection, `${path}/events`, { after: `${told}`, signal })) {
      if (frame.type === 'connected') {
        if (endedAt === null) link.value = { kind: 'live', missed: isFirst ? 0 : frame.missed, isAnew }
        isFirst = false
      }
      if (frame.type === 'event') tell(frame.event)
      if (frame.type === 'resync') {
        isLost = true
        return
      }
    }
    await followEnded(signal)
  }

  /** Follows what people do with the run after its end; returns when it goes on. */
  async function followEnded(signal: AbortSignal): Promise<void> {
    link.value = { kind: 'ended' }
    for await (const frame of readStream(connection, '/v1/events', { categories: afterEnd, signal })) {
      if (frame.type === 'connected' && (await readRun()).ended_at === null) return
      if (frame.type === 'resync') return
      if (frame.type !== 'event' || frame.event.run_id !== runId) continue
      tell(frame.event)
      if (frame.event.event === 'run.reopened') return
    }
  }

  async function follow(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      try {
        await followLive(signal)
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof RemoraProblem && error.code === 'RUN_001') return void (link.value = { kind: 'gone' })
        link.value = { kind: 'broken', error }
        await pause(retryPausesMs[Math.min(failures, retryPausesMs.length - 1)] ?? 0, signal).catch(() => {})
        failures += 1
      }
    }
  }

  void whileAwake(follow, closing.signal)
  return {
    run,
    link,
    era,
    readAgain: readRun,
    onEvents(listener: (events: readonly Event[]) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: () => closing.abort(),
  }
}
