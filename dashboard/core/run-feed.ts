import { type Signal, signal } from '@preact/signals'
import { type Connection, RemoraProblem } from '#client/connection.ts'
import { readStream } from '#client/read-stream.ts'
import { pause } from '#client/timers.ts'
import type { Event, Run } from '#client/wire.ts'
import { openRefresh } from './refresh.ts'
import { whileAwake } from './while-awake.ts'

/**
 * Says how the page is connected. `live`: `missed` events came while it was not, and were shown. `isAnew`: what was missed is no longer kept, or is
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
/** Lists what may still happen to a run that has ended. */
const afterEnd = ['run_lifecycle', 'decision', 'failed'] as const

type State = {
  connection: Connection
  runId: string
  path: string
  link: Signal<Link>
  era: Signal<number>
  readRun: () => Promise<Run>
  tell: (event: Event) => void
  /** Is the number of the last event that was told; undefined before the first connection. */
  told: number | undefined
  isLost: boolean
}

/**
 * Follows a run until `close`: its state, and the events from now on, each once and in order. `era` counts how often events were left out: who
 * keeps something that it made of events reads it anew then.
 */
export function openRunFeed(connection: Connection, runId: string) {
  const closing = new AbortController()
  const run = signal<Run | undefined>(undefined)
  const listeners = new Set<(events: readonly Event[]) => void>()
  const path = `/v1/runs/${encodeURIComponent(runId)}`
  const readRun = async () => (run.value = await connection.json<Run>(path, { signal: closing.signal }))
  const stateChanged = openRefresh(readRun, stateEveryMs, closing.signal)
  const state: State = {
    connection,
    runId,
    path,
    link: signal({ kind: 'connecting' }),
    era: signal(0),
    readRun,
    tell(event) {
      state.told = event.seq
      for (const listener of listeners) listener([event])
      stateChanged()
    },
    told: undefined,
    isLost: false,
  }
  void whileAwake((spell) => follow(state, spell), closing.signal)
  return {
    run,
    link: state.link,
    era: state.era,
    readAgain: readRun,
    onEvents(listener: (events: readonly Event[]) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Somebody else was told that there is no such run any more: no event says so. */
    lose(): void {
      closing.abort()
      state.link.value = { kind: 'gone' }
    },
    close: () => closing.abort(),
  }
}

/** Makes a connection that tells the feed of a run when the run is gone. */
export function watchedConnection(connection: Connection, feed: RunFeed): Connection {
  const look = (error: unknown): never => {
    if (error instanceof RemoraProblem && error.code === 'RUN_001') feed.lose()
    throw error
  }
  return {
    ...connection,
    send: (path, outgoing) => connection.send(path, outgoing).catch(look),
    json: (path, outgoing) => connection.json<never>(path, outgoing).catch(look),
  }
}

async function follow(state: State, spell: AbortSignal): Promise<void> {
  for (let failures = 0; !spell.aborted;) {
    try {
      await followLive(state, spell)
      failures = 0
    } catch (error) {
      if (spell.aborted) return
      const isGone = error instanceof RemoraProblem && error.code === 'RUN_001'
      state.link.value = isGone ? { kind: 'gone' } : { kind: 'broken', error }
      if (isGone) return
      await pause(retryPausesMs[Math.min(failures, retryPausesMs.length - 1)] ?? 0, spell).catch(() => {})
      failures += 1
    }
  }
}

/** Follows the run to its end, and what comes after that; returns when it goes on, or its events have to be left out. */
async function followLive(state: State, spell: AbortSignal): Promise<void> {
  const { seq, ended_at: endedAt } = await state.readRun()
  const isAnew = state.told !== undefined && (state.isLost || seq - state.told > mostTold)
  let isFirst = state.told === undefined
  if (isAnew) state.era.value += 1
  if (isAnew || state.told === undefined) state.told = seq
  state.isLost = false
  const frames = readStream(state.connection, `${state.path}/events`, { after: `${state.told}`, signal: spell })
  for await (const frame of frames) {
    if (frame.type === 'connected') {
      if (endedAt === null) state.link.value = { kind: 'live', missed: isFirst ? 0 : frame.missed, isAnew }
      isFirst = false
    }
    if (frame.type === 'event') state.tell(frame.event)
    if (frame.type === 'resync') {
      state.isLost = true
      return
    }
  }
  await followEnded(state, spell)
}

/** Follows what people do with the run after its end; returns when it goes on, or its own stream has more than was told. */
async function followEnded(state: State, spell: AbortSignal): Promise<void> {
  const { connection, runId, link, readRun, tell } = state
  link.value = { kind: 'ended' }
  for await (const frame of readStream(connection, '/v1/events', { categories: afterEnd, signal: spell })) {
    if (frame.type === 'connected') {
      const { ended_at: endedAt, seq } = await readRun()
      if (endedAt === null || seq > (state.told ?? seq)) return
    }
    if (frame.type === 'resync') return
    if (frame.type !== 'event' || frame.event.run_id !== runId || frame.event.seq <= (state.told ?? 0)) continue
    tell(frame.event)
    if (frame.event.event === 'run.reopened') return
  }
}
