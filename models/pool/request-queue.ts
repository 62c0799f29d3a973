import type { Clock } from '#platform/clock.ts'
import { candidateOf, chooseServer, openRanking, type PendingRequest } from './servers/choose-server.ts'
import type { PooledServer, Reservation } from './servers/pooled-server.ts'
import {
  allOf,
  type Health,
  type ModelQueue,
  type ModelQueues,
  openModelQueues,
  openSlotsInUse,
  type Pending,
  type QueuedRequest,
  type Turn,
} from './model-queues.ts'

/**
 * `reserve` waits for a slot. It resolves to undefined when all servers were down for `maxDownMs` or the queue is closed, and
 * rejects with the signal's reason. Retries go first, then runs in turn (model-queues.ts).
 */
export type RequestQueue = ReturnType<typeof openRequestQueue>

type QueueOptions = {
  servers: readonly PooledServer[]
  clock: Clock
  /** Counts all servers of the model as down, also one that hangs. A change of it needs a `recheck`. */
  isAway(model: string): boolean
}

/** Never leaves a slot empty while a request is queued that may have it: every change rechecks the queue. */
export function openRequestQueue({ servers, clock, isAway }: QueueOptions) {
  const rank = openRanking(servers)
  const inUse = openSlotsInUse()
  const queues = openModelQueues(inUse)
  let isClosed = false
  let stopTimer = () => {}
  const takeSlot: TakeSlot = (request, waiting) => {
    if (isAway(request.model)) return undefined
    const server = chooseServer({ ranked: rank(request.key), request, waiting })
    if (server === undefined || server === 'soon') return undefined
    const leave = inUse.enter(request.model, request.share)
    return withRecheck(server.reserve(candidateOf(request, server)), { leave, recheck: () => recheck(server) })
  }
  const recheck = (freed?: PooledServer) => {
    if (queues.isEmpty()) return
    const pauseMs = shortestPause(servers) // a pause that ends from here on is looked at again
    if (freed !== undefined) admitOnePreferring(freed, queues, takeSlot, clock.now())
    admitAll(queues, takeSlot)
    stopTimer()
    const nextMs = Math.min(pauseMs, dismissExpired(queues, { servers, isAway }, clock.now()))
    if (!queues.isEmpty() && nextMs !== Infinity) stopTimer = clock.after(Math.ceil(nextMs) + 1, () => recheck())
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
    reserveNow: (request: PendingRequest): Reservation | undefined => elsewhere(freeSlot(request), request),
    size: queues.size,
    /** Must be called when slots, limits, breakers or models have changed outside the queue. */
    recheck: () => recheck(),
    close() {
      isClosed = true
      stopTimer()
      for (const queue of queues.all()) for (const pending of allOf(queue)) settle(queues, pending, undefined)
    },
  }
}

function elsewhere(free: Reservation | undefined, request: PendingRequest): Reservation | undefined {
  if (free === undefined) return undefined
  if (free.server !== request.avoid && candidateOf(request, free.server) === 'fresh') return free
  free.release()
  free.report('left')
  return undefined
}

type TakeSlot = (request: PendingRequest, waiting: number) => Reservation | undefined

function withRecheck(
  { server, ...reservation }: Reservation,
  { leave, recheck }: { leave(): void; recheck(): void },
): Reservation {
  return {
    server,
    release() {
      reservation.release()
      leave()
      recheck()
    },
    report(end, retryAfterMs) {
      reservation.report(end, retryAfterMs)
      recheck()
    },
  }
}

/** A freed slot goes for so long to the first request that prefers its server, for the sake of its prefix cache. */
const preferredFirstMs = 5000

function admitOnePreferring(freed: PooledServer, queues: ModelQueues, takeSlot: TakeSlot, now: number): void {
  const turn = queues.next(new Set())
  if (turn === undefined || now - turn.waitingSince > preferredFirstMs) return
  const [first = preferring(turn.queue.retries, freed)] = turn.run?.byPreferred.get(freed) ?? []
  if (first !== undefined) admit(first, turn.queue, queues, takeSlot)
}

function preferring(requests: Iterable<Pending>, server: PooledServer): Pending | undefined {
  for (const pending of requests) if (pending.preferred === server) return pending
  return undefined
}

function admitAll(queues: ModelQueues, takeSlot: TakeSlot): void {
  const blocked = new Set<ModelQueue>()
  for (let turn = queues.next(blocked); turn !== undefined; turn = queues.next(blocked)) {
    if (!admitNext(turn, queues, takeSlot)) blocked.add(turn.queue)
  }
}

function admitNext(turn: Turn, queues: ModelQueues, takeSlot: TakeSlot): boolean {
  for (const pending of turn.queue.retries) {
    if (admit(pending, turn.queue, queues, takeSlot)) return true
    // A slot that is refused to a request that avoids no server is refused to all behind it.
    if (pending.request.avoid === undefined) return false
  }
  for (const pending of turn.run?.firstTries ?? []) return admit(pending, turn.queue, queues, takeSlot)
  return false
}

function admit(pending: Pending, queue: ModelQueue, queues: ModelQueues, takeSlot: TakeSlot): boolean {
  const reservation = takeSlot(pending.request, queue.size)
  if (reservation === undefined) return false
  settle(queues, pending, reservation)
  return true
}

function shortestPause(servers: readonly PooledServer[]): number {
  const pausesMs = servers.flatMap(({ breaker, slots }) => [breaker.pauseLeftMs(), slots.pauseLeftMs()])
  return Math.min(...pausesMs.filter((ms) => ms > 0))
}

function dismissExpired(queues: ModelQueues, { servers, isAway }: Omit<QueueOptions, 'clock'>, now: number): number {
  let nextMs = Infinity
  for (const queue of queues.all()) {
    const health = isAway(queue.model) ? 'down' : healthOf(queue.model, servers)
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

function healthOf(model: string, servers: readonly PooledServer[]): Health {
  const states = servers.filter(({ offered }) => offered.mayOffer(model)).map(({ breaker }) => breaker.state())
  if (states.includes('closed')) return 'up'
  return states.includes('half_open') ? 'probing' : 'down'
}

function addPending(queues: ModelQueues, entry: Omit<Pending, 'settle'>, signal: AbortSignal) {
  const { promise, resolve, reject } = Promise.withResolvers<Reservation | undefined>()
  const abort = () => {
    queues.remove(pending)
    reject(signal.reason)
  }
  const pending: Pending = {
    ...entry,
    settle(reservation) {
      signal.removeEventListener('abort', abort)
      resolve(reservation)
    },
  }
  queues.add(pending)
  signal.addEventListener('abort', abort, { once: true })
  return promise
}

function settle(queues: ModelQueues, pending: Pending, reservation: Reservation | undefined): void {
  queues.remove(pending)
  pending.settle(reservation)
}
