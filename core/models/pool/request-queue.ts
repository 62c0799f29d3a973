import type { Clock } from '#platform/clock.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { candidateOf, chooseServer, openRanking, type PendingRequest } from './servers/choose-server.ts'
import type { PooledServer, Reservation } from './servers/pooled-server.ts'

export type QueuedRequest = PendingRequest & {
  /** It has failed before; retries are admitted before first tries. */
  isRetry: boolean
  /** How long it waits, in all, while every server of its model is down; time with a half-open probe is not counted. */
  maxDownMs: number
}

/**
 * `reserve` waits for a slot at a server that may serve the request. Requests that prefer the same server are admitted in
 * order of arrival, retries first. It resolves to undefined when all servers were down for `maxDownMs`, or once the queue is
 * closed, and rejects with the signal's reason.
 */
export type RequestQueue = ReturnType<typeof openRequestQueue>

/**
 * One queue for all servers, in a part for each model: a slot that becomes free is never left empty while a request is
 * queued that may have it. Every change rechecks the queue: requests that can get a slot are admitted, those that have
 * waited too long for servers that are down are dismissed, and a timer is set for the next moment that changes either.
 */
export function openRequestQueue({ servers, clock }: { servers: readonly PooledServer[]; clock: Clock }) {
  const rank = openRanking(servers)
  const queues: ModelQueues = new Map()
  let isClosed = false
  let stopTimer = () => {}
  const takeSlot: TakeSlot = (request, waiting) => {
    const server = chooseServer({ ranked: rank(request.key), request, waiting })
    if (server === undefined || server === 'soon') return undefined
    return withRecheck(server.reserve(candidateOf(request, server)), () => recheck(server))
  }
  const recheck = (freed?: PooledServer) => {
    if (queues.size === 0) return
    if (freed !== undefined) admitOnePreferring(freed, queues, takeSlot, clock.now())
    admitAll(queues, takeSlot)
    stopTimer()
    const nextMs = dismissExpired(queues, servers, clock.now())
    if (queues.size > 0 && nextMs !== Infinity) stopTimer = clock.after(Math.ceil(nextMs) + 1, () => recheck())
  }
  const enqueue = (request: QueuedRequest, signal: AbortSignal) => {
    const { key, model } = request
    const preferred = rank(key).find(({ offered, breaker }) => offered.mayOffer(model) && breaker.state() === 'closed')
    const reserved = addPending(queues, { request, queuedAt: clock.now(), preferred }, signal)
    recheck()
    return reserved
  }
  const freeSlot = (request: PendingRequest) =>
    isClosed || queues.has(request.model) ? undefined : takeSlot(request, 1)
  return {
    async reserve(request: QueuedRequest, signal: AbortSignal): Promise<Reservation | undefined> {
      signal.throwIfAborted()
      return freeSlot(request) ?? (isClosed ? undefined : enqueue(request, signal))
    },
    /** Reserves a slot that is free now and for which no request is queued; never where the request failed or `avoid` is. */
    reserveNow(request: PendingRequest): Reservation | undefined {
      const free = freeSlot(request)
      if (free === undefined || !hasFailedAt(free.server, request)) return free
      free.release()
      free.report('left')
      return undefined
    },
    size: () => [...queues.values()].reduce((sum, queue) => sum + queue.retries.size + queue.firstTries.size, 0),
    /** To be called when slots, limits, breakers or models have changed outside the queue. */
    recheck: () => recheck(),
    close() {
      isClosed = true
      stopTimer()
      for (const queue of queues.values()) for (const pending of allOf(queue)) settle(queues, pending, undefined)
    },
  }
}

function hasFailedAt(server: PooledServer, request: PendingRequest): boolean {
  return server === request.avoid || candidateOf(request, server) === 'failed_here'
}

type Pending = {
  request: QueuedRequest
  queuedAt: number
  /** The server that its key prefers of those that were up when it came. */
  preferred: PooledServer | undefined
  settle(reservation: Reservation | undefined): void
}

/** The pending requests for one model; each set is in order of arrival. */
type ModelQueue = {
  model: string
  retries: Set<Pending>
  firstTries: Set<Pending>
  byPreferred: Map<PooledServer | undefined, Set<Pending>>
  downtime: Downtime
}

/** By model; a queue is removed with its last request. */
type ModelQueues = Map<string, ModelQueue>

/** `waiting`: how many requests for the model would take a slot, this one included. */
type TakeSlot = (request: PendingRequest, waiting: number) => Reservation | undefined

/** A free slot, a higher limit or a closed breaker may let a request in. */
function withRecheck({ server, ...reservation }: Reservation, recheck: () => void): Reservation {
  return {
    server,
    release() {
      reservation.release()
      recheck()
    },
    report(end, retryAfterMs) {
      reservation.report(end, retryAfterMs)
      recheck()
    },
  }
}

/**
 * For how long a request lets others go first: a slot that becomes free goes to the first request that prefers its server.
 * Without that, a queue spreads every key over all servers, and their prefix caches hold nothing (bench/pool-bench.ts).
 * After that time a request is admitted before all others, wherever a slot becomes free.
 */
const preferredFirstMs = 5000

function admitOnePreferring(freed: PooledServer, queues: ModelQueues, takeSlot: TakeSlot, now: number): void {
  const queue = longestWaiting(queues, new Set())
  if (queue === undefined || now - waitingSince(queue) > preferredFirstMs) return
  const [pending] = queue.byPreferred.get(freed) ?? []
  if (pending !== undefined) admit(pending, queue, queues, takeSlot)
}

/** Admits requests, those of the model that has waited longest first, until no model's next request gets a slot. */
function admitAll(queues: ModelQueues, takeSlot: TakeSlot): void {
  const blocked = new Set<ModelQueue>()
  for (let queue = longestWaiting(queues, blocked); queue !== undefined; queue = longestWaiting(queues, blocked)) {
    if (!admitNext(queue, queues, takeSlot)) blocked.add(queue)
  }
}

function admitNext(queue: ModelQueue, queues: ModelQueues, takeSlot: TakeSlot): boolean {
  for (const requests of [queue.retries, queue.firstTries]) {
    for (const pending of requests) {
      if (admit(pending, queue, queues, takeSlot)) return true
      // A slot that is refused to a request that avoids no server is refused to all behind it.
      if (pending.request.avoid === undefined) return false
    }
  }
  return false
}

function admit(pending: Pending, queue: ModelQueue, queues: ModelQueues, takeSlot: TakeSlot): boolean {
  const reservation = takeSlot(pending.request, queue.retries.size + queue.firstTries.size)
  if (reservation === undefined) return false
  settle(queues, pending, reservation)
  return true
}

/** Of the queues that are not blocked, the one whose next request has waited longest. */
function longestWaiting(queues: ModelQueues, blocked: ReadonlySet<ModelQueue>): ModelQueue | undefined {
  let first: ModelQueue | undefined
  for (const queue of queues.values()) {
    if (!blocked.has(queue) && (first === undefined || waitingSince(queue) < waitingSince(first))) first = queue
  }
  return first
}

function waitingSince({ retries, firstTries }: ModelQueue): number {
  for (const requests of [retries, firstTries]) for (const { queuedAt } of requests) return queuedAt
  return Infinity
}

/** Dismisses requests whose `maxDownMs` is used up. Returns for how long nothing changes by itself, in milliseconds. */
function dismissExpired(queues: ModelQueues, servers: readonly PooledServer[], now: number): number {
  const pausesMs = servers.flatMap(({ breaker, slots }) => [breaker.pauseLeftMs(), slots.pauseLeftMs()])
  let nextMs = Math.min(...pausesMs.filter((ms) => ms > 0))
  for (const queue of queues.values()) {
    const health = healthOf(queue.model, servers)
    queue.downtime.note(health, now)
    if (health !== 'down') continue
    for (const pending of allOf(queue)) {
      const leftMs = pending.request.maxDownMs - queue.downtime.since(pending.queuedAt)
      if (leftMs <= 0) settle(queues, pending, undefined)
      else nextMs = Math.min(nextMs, leftMs)
    }
  }
  return nextMs
}

type Health = 'up' | 'probing' | 'down'

function healthOf(model: string, servers: readonly PooledServer[]): Health {
  const states = servers.filter(({ offered }) => offered.mayOffer(model)).map(({ breaker }) => breaker.state())
  if (states.includes('closed')) return 'up'
  return states.includes('half_open') ? 'probing' : 'down'
}

type Downtime = ReturnType<typeof openDowntime>

/** How long a model's servers have been down since one of them was up. */
function openDowntime() {
  /** In order; the gaps between them are half-open probes. */
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
    /** Counts only what lies after `from`. */
    since: (from: number) => spans.reduce((sum, span) => sum + Math.max(0, span.to - Math.max(from, span.from)), 0),
  }
}

function addPending(queues: ModelQueues, entry: Omit<Pending, 'settle'>, signal: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<Reservation | undefined>()
  const abort = () => {
    remove(queues, pending)
    reject(signal.reason)
  }
  const pending: Pending = {
    ...entry,
    settle(reservation) {
      signal.removeEventListener('abort', abort)
      resolve(reservation)
    },
  }
  const { model, isRetry } = entry.request
  const queue = getOrMake(queues, model, () => emptyQueue(model))
  queue[isRetry ? 'retries' : 'firstTries'].add(pending)
  getOrMake(queue.byPreferred, entry.preferred, () => new Set()).add(pending)
  signal.addEventListener('abort', abort, { once: true })
  return promise
}

function emptyQueue(model: string): ModelQueue {
  return { model, retries: new Set(), firstTries: new Set(), byPreferred: new Map(), downtime: openDowntime() }
}

function allOf({ retries, firstTries }: ModelQueue): Pending[] {
  return [...retries, ...firstTries]
}

function settle(queues: ModelQueues, pending: Pending, reservation: Reservation | undefined): void {
  remove(queues, pending)
  pending.settle(reservation)
}

function remove(queues: ModelQueues, pending: Pending): void {
  const queue = queues.get(pending.request.model)
  if (queue === undefined) return
  queue.retries.delete(pending)
  queue.firstTries.delete(pending)
  queue.byPreferred.get(pending.preferred)?.delete(pending)
  if (queue.retries.size + queue.firstTries.size === 0) queues.delete(queue.model)
}
