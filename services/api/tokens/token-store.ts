import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { orStoreError } from '#ledger/store-error.ts'
import type { Log } from '#platform/log.ts'
import { TokenRecord, type TokenId } from './token-record.ts'

export type TokenStore = {
  /** Every token by the SHA-256 of its text, expired ones included. A record that cannot be read is left out, and logged. */
  readAll(): Promise<Map<string, TokenRecord>>
  /** False, and nothing is kept, when it was removed in the last 24 hours. Adding the same token again changes nothing. */
  add(hash: string, record: TokenRecord): Promise<boolean>
  remove(hashes: readonly string[]): Promise<void>
  /** When each token was last used, in milliseconds, as far as it was noted. */
  lastUses(): Promise<Map<string, number>>
  noteUse(tokenId: TokenId, atMs: number): Promise<void>
}

/** The least of a Redis client this needs. */
type Hashes = {
  hgetall(key: string): Promise<Record<string, string>>
  hset(key: string, field: string, value: string | number): Promise<number>
  set(key: string, value: string, ex: 'EX', seconds: number): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  hdel(key: string, ...fields: string[]): Promise<number>
}

const Uses = z.record(z.string(), z.coerce.number())

/** Longer than an `Idempotency-Key`, made before, can bring a removed token's text again. */
const removedSeconds = 24 * 60 * 60

/** A token that is removed while it is made again must not come back, so it is one step. */
const addUnlessRemoved = `
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1`

/**
 * The tokens in Redis, in one slot of a cluster: two hashes, `records` by hash and `uses` by id, and for a day a key for
 * each token that was removed.
 */
export function openTokenStore(
  redis: Hashes,
  { log, namespace = 'remora' }: { log: Pick<Log, 'warn'>; namespace?: string },
): TokenStore {
  const records = `${namespace}:{tokens}:records`
  const uses = `${namespace}:{tokens}:uses`
  const removed = (hash: string) => `${namespace}:{tokens}:removed:${hash}`
  const warnedOf = new Set<string>()
  const parsed = (hash: string, text: string): [string, TokenRecord][] => {
    const record = TokenRecord.safeParse(parseJson(text))
    if (record.success) return [[hash, record.data]]
    const isNew = !warnedOf.has(hash)
    warnedOf.add(hash) // the records are read every few seconds
    if (isNew) log.warn('a token cannot be read and is passed over', { hash: hash.slice(0, 12), key: records })
    return []
  }
  const readAll: TokenStore['readAll'] = async () => {
    const texts = Object.entries(await orStoreError(redis.hgetall(records)))
    return new Map(texts.flatMap(([hash, text]) => parsed(hash, text)))
  }
  return {
    readAll,
    async add(hash, record) {
      const text = JSON.stringify(record)
      return (await orStoreError(redis.eval(addUnlessRemoved, 2, records, removed(hash), hash, text))) === 1
    },
    async remove(hashes) {
      if (hashes.length === 0) return
      const known = await readAll()
      const ids = hashes.flatMap((hash) => known.get(hash)?.tokenId ?? [])
      await orStoreError(Promise.all(hashes.map((hash) => redis.set(removed(hash), '', 'EX', removedSeconds))))
      await orStoreError(redis.hdel(records, ...hashes))
      if (ids.length > 0) await orStoreError(redis.hdel(uses, ...ids))
    },
    async lastUses() {
      return new Map(Object.entries(Uses.parse(await orStoreError(redis.hgetall(uses)))))
    },
    async noteUse(tokenId, atMs) {
      await orStoreError(redis.hset(uses, tokenId, atMs))
    },
  }
}
