import type { RequestShare } from '#domain/turn.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { PendingRequest } from './servers/choose-server.ts'
import type { PooledServer, Reservation } from './servers/pooled-server.ts'

export type QueuedRequest = PendingRequest & {
  /** It has failed before; retries are admitted before first tries. */
  isRetry: boolean
  /** Bounds how long it waits, in all, while every server of its model is down; time with a half-open probe is not counted. */
  maxDownMs: number
}

export type Pending = {
  request: QueuedRequest
  queuedAt: number
  /** Is the server that its key prefers of those that were up when it came. */
  preferred: PooledServer | undefined
  settle(reservation: Reservation | undefined): void
}

/** The sets are in order of arrival. */
type RunQueue = {
  share: RequestShare | undefined
  firstTries: Set<Pending>
  byPreferred: Map<PooledServer | undefined, Set<Pending>>
}

export type ModelQueue = {
  model: string
  size: number
  retries: Set<Pending>
  byRun: Map<string, RunQueue>
  downtime: Downtime
}

/** Says where the next request is taken from: the retries of a model, then the first tries of the run whose turn it is. */
export type Turn = { queue: ModelQueue; run: RunQueue | undefined; waitingSince: number; isRetry: boolean }

export type ModelQueues = ReturnType<typeof openModelQueues>

/**
 * Holds the pending requests. Retries come first, in order of arrival; then it is the turn of the project with the fewest slots
 * in use, there of the run with the fewest for its weight, and of several such of the one that has waited longest.
 */
export function openModelQueues(inUse: Pick<SlotsInUse, 'of'>) {
  const queues = new Map<string, ModelQueue>()
  const turnOf = (queue: ModelQueue): Turn => {
    const [retry] = queue.retries
    const runs = [...queue.byRun.values()].map((run) => ({ queue, run, waitingSince: oldest(run), isRetry: false }))
    const { run, waitingSince } = first(runs, inUse) ?? { run: undefined, waitingSince: Infinity }
    return { queue, run, waitingSince: retry?.queuedAt ?? waitingSince, isRetry: retry !== undefined }
  }
  return {
    isEmpty: () => queues.size === 0,
    size: () => [...queues.values()].reduce((sum, { size }) => sum + size, 0),
    has: (model: string) => queues.has(model),
    all: () => queues.values(),
    add(pending: Pending): void {
      const { model, isRetry, share } = pending.request
      const queue = getOrMake(queues, model, () => emptyQueue(model))
      queue.size += 1
      if (isRetry) return void queue.retries.add(pending)
      const run = getOrMake(queue.byRun, runOf(share), () => ({ share, firstTries: new Set(), byPreferred: new Map() }))
      run.firstTries.add(pending)
      getOrMake(run.byPreferred, pending.preferred, () => new Set()).add(pending)
    },
    remove(pending: Pending): void {
      const queue = queues.get(pending.request.model)
      const run = queue?.byRun.get(runOf(pending.request.share))
      if (queue === undefined) return
      if (!queue.retries.delete(pending) && run?.firstTries.delete(pending) !== true) return
      queue.size -= 1
      run?.byPreferred.get(pending.preferred)?.delete(pending)
      if (run?.firstTries.size === 0) queue.byRun.delete(runOf(pending.request.share))
      if (queue.size === 0) queues.delete(queue.model)
    },
    next(blocked: ReadonlySet<ModelQueue>): Turn | undefined {
      const open = [...queues.values()].filter((queue) => !blocked.has(queue))
      return first(open.map(turnOf), inUse)
    },
  }
}

function emptyQueue(model: string): ModelQueue {
  return { model, size: 0, retries: new Set(), byRun: new Map(), downtime: openDowntime() }
}

export function allOf({ retries, byRun }: ModelQueue): Pending[] {
  return [...retries, ...[...byRun.values()].flatMap(({ firstTries }) => [...firstTries])]
}

function oldest({ firstTries }: RunQueue): number {
  for (const { queuedAt } of firstTries) return queuedAt
  return Infinity
}

function runOf(share: RequestShare | undefined): string {
  return share?.runId ?? ''
}

type Ranked = { turn: Turn; project: number; run: number }

function first(turns: readonly Turn[], inUse: Pick<SlotsInUse, 'of'>): Turn | undefined {
  const [only, another] = turns
  if (another === undefined) return only
  let best: Ranked | undefined
  for (const turn of turns) {
    const ranked = { turn, ...inUse.of(turn.queue.model, turn.run?.share) }
    if (best === undefined || isBefore(ranked, best)) best = ranked
  }
  return best?.turn
}

function isBefore(left: Ranked, right: Ranked): boolean {
  if (left.turn.isRetry !== right.turn.isRetry) return left.turn.isRetry
  const less = left.turn.isRetry ? 0 : left.project - right.project || left.run - right.run
  return (less || left.turn.waitingSince - right.turn.waitingSince) < 0
}

export type Health = 'up' | 'probing' | 'down'

type Downtime = ReturnType<typeof openDowntime>

function openDowntime() {
  /** These lie in order; the gaps between them are half-open probes. */
  let spans: { from: number; to: number }[] = []
  let wasDown = false
  return {
    note(health: Health, now: number) {
      if (health === 'up') spans = []
      const last = spans.at(-1)
      if (wasDown && last !== undefined) last.to = now
      if (health === 'down' && !(wasDown && last !== undefined)) spans.push({ from: now, to: now })
      wasDown = health === 'down'
    },
    since: (from: number) => spans.reduce((sum, span) => sum + Math.max(0, span.to - Math.max(from, span.from)), 0),
  }
}

type SlotsInUse = ReturnType<typeof openSlotsInUse>

/** Runs share the time at the servers: one whose requests take longer has fewer of them answered. */
export function openSlotsInUse() {
  const counts = new Map<string, number>()
  const count = (key: string) => counts.get(key) ?? 0
  const add = (key: string, change: 1 | -1) => {
    const now = count(key) + change
    if (now === 0) counts.delete(key)
    else counts.set(key, now)
  }
  return {
    /** Counts a slot until the returned function is called. */
    enter(model: string, share: RequestShare | undefined): () => void {
      const keys = [projectKey(model, share), runKey(model, share)]
      for (const key of keys) add(key, 1)
      return () => {
        for (const key of keys) add(key, -1)
      }
    },
    /** Returns the slots of the run's project, and those of the run for its weight. */
    of: (model: string, share: RequestShare | undefined) => ({
      project: count(projectKey(model, share)),
      run: count(runKey(model, share)) / (share?.weight ?? 1),
    }),
  }
}

function projectKey(model: string, share: RequestShare | undefined): string {
  return `${model}\n${share?.projectId ?? ''}`
}

function runKey(model: string, share: RequestShare | undefined): string {
  return `${projectKey(model, share)}\n${share?.runId ?? ''}`
}
