import { LRUCache } from 'lru-cache'
import type { RequestShare } from '#domain/turn.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { Candidate } from './circuit-breaker.ts'
import type { PooledServer } from './pooled-server.ts'

/** Lower is more even, higher reuses more prefixes ("Consistent Hashing with Bounded Loads", 2017). */
const boundOfMean = 1.25

export type PendingRequest = {
  model: string
  /** Is equal for requests that begin alike. */
  key: string
  /** Says whose it is; all requests without one are one run's. */
  share?: RequestShare | undefined
  avoid?: PooledServer | undefined
  failedAt?: ReadonlySet<PooledServer> | undefined
}

export type Choice = {
  ranked: readonly PooledServer[]
  request: Omit<PendingRequest, 'key' | 'share'>
  /** Counts the requests like this one that would take a slot, this one included. */
  waiting: number
}

/**
 * Takes a slot: at the server that the key prefers, unless that is full or above 1.25 times its share; then at the least full
 * one (by key order instead, one key for all has an eighth less throughput in bench/pool-bench.ts). `soon`: slots are being
 * requested there.
 */
export function chooseServer({ ranked, request, waiting }: Choice): PooledServer | 'soon' | undefined {
  const usable = usableServers(ranked, request)
  const load = sumOf(usable, (server) => server.inFlight()) + 1
  const capacity = sumOf(usable, (server) => server.limit.current())
  const wanted = Math.ceil(waiting / Math.max(1, usable.length))
  const roomAt = (server: PooledServer) => server.limit.current() - server.inFlight()
  const [preferred] = usable
  if (preferred !== undefined && roomAt(preferred) > 0) {
    const bound = Math.ceil((boundOfMean * load * preferred.limit.current()) / capacity)
    const taken = preferred.inFlight() < bound ? preferred.slots.take(Math.min(wanted, roomAt(preferred))) : 'full'
    if (taken === 'soon') return taken
    if (taken === 'taken') return preferred
  }
  const byFill = usable.filter((server) => roomAt(server) > 0).toSorted((left, right) => fillOf(left) - fillOf(right))
  for (const server of byFill) {
    const taken = server.slots.take(Math.min(wanted, roomAt(server)))
    if (taken === 'soon') return taken
    if (taken === 'taken') return server
  }
  return undefined
}

function usableServers(ranked: readonly PooledServer[], request: Choice['request']): readonly PooledServer[] {
  const { model, avoid, failedAt } = request
  const isUsable = (server: PooledServer) =>
    server.offered.mayOffer(model) &&
    server.breaker.admits(candidateOf(request, server)) &&
    server.slots.pauseLeftMs() === 0
  const usable = ranked.every(isUsable) ? ranked : ranked.filter(isUsable)
  if (avoid === undefined) return usable
  const others = usable.filter((server) => server !== avoid)
  const untried = others.filter((server) => failedAt?.has(server) !== true)
  return [untried, others].find((some) => some.length > 0) ?? usable
}

export function candidateOf({ failedAt }: Pick<PendingRequest, 'failedAt'>, server: PooledServer): Candidate {
  return failedAt?.has(server) === true ? 'failed_here' : 'fresh'
}

function fillOf(server: PooledServer): number {
  return server.inFlight() / server.limit.current()
}

function sumOf(servers: readonly PooledServer[], value: (server: PooledServer) => number): number {
  let sum = 0
  for (const server of servers) sum += value(server)
  return sum
}

/** A key that has been dropped is ranked again, with the same result. */
const maxKeys = 10_000

/** Returns the servers in the order in which a key prefers them, by rendezvous hashing: a removed server moves only its own keys. */
export function openRanking<S extends { name: string }>(servers: readonly S[]): (key: string) => readonly S[] {
  const named = servers.map((server) => ({ server, hash: hashOf(server.name) }))
  const cached = new LRUCache<string, readonly S[]>({ max: maxKeys })
  const rank = (key: string) => {
    const hash = hashOf(key)
    const scored = named.map((candidate) => ({
      server: candidate.server,
      score: mix(candidate.hash ^ Math.imul(hash, 0x9e3779b1)),
    }))
    return scored.toSorted((left, right) => right.score - left.score).map(({ server }) => server)
  }
  return (key) => getOrMake(cached, key, () => rank(key))
}

/** Computes FNV-1a over UTF-16 code units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return mix(hash)
}

/** This is MurmurHash3's finalizer: every bit of the result depends on every bit of the input. */
function mix(given: number): number {
  let hash = given
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
