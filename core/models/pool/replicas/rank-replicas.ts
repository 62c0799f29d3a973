import { LRUCache } from 'lru-cache'

/** Bounds the memory; a key that has been forgotten is ranked again, alike. */
const maxKeys = 10_000

/**
 * The replicas in the order in which a key prefers them, by rendezvous hashing: every process ranks alike, keys are spread
 * evenly, and when a replica goes only its own keys move.
 */
export function openRanking<R extends { name: string }>(replicas: readonly R[]): (key: string) => readonly R[] {
  const named = replicas.map((replica) => ({ replica, hash: hashOf(replica.name) }))
  const known = new LRUCache<string, readonly R[]>({ max: maxKeys })
  return (key) => {
    const found = known.get(key)
    if (found !== undefined) return found
    const hash = hashOf(key)
    const scored = named.map((one) => ({ replica: one.replica, score: mix(one.hash ^ Math.imul(hash, 0x9e3779b1)) }))
    const ranked = scored.toSorted((one, other) => other.score - one.score).map(({ replica }) => replica)
    known.set(key, ranked)
    return ranked
  }
}

/** FNV-1a over UTF-16 code units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return mix(hash)
}

/** MurmurHash3's finalizer: every bit of the answer depends on every bit given. */
function mix(given: number): number {
  let hash = given
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
