import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { orStoreError } from '#ledger/store-error.ts'
import { TokenRecord, type TokenId } from './token-record.ts'

export type TokenStore = {
  /** Every token by the SHA-256 of its text, expired ones included. */
  readAll(): Promise<Map<string, TokenRecord>>
  /** Adding the same token again changes nothing. */
  add(hash: string, record: TokenRecord): Promise<void>
  remove(hashes: readonly string[]): Promise<void>
  /** When each token was last used, in milliseconds, as far as it was noted. */
  lastUses(): Promise<Map<string, number>>
  noteUse(tokenId: TokenId, atMs: number): Promise<void>
}

/** The least of a Redis client this needs. */
type Hashes = {
  hgetall(key: string): Promise<Record<string, string>>
  hset(key: string, field: string, value: string | number): Promise<number>
  hdel(key: string, ...fields: string[]): Promise<number>
}

const Uses = z.record(z.string(), z.coerce.number())

/** The tokens in Redis: two hashes in one slot of a cluster, `records` by hash and `uses` by id. */
export function openTokenStore(redis: Hashes, namespace = 'remora'): TokenStore {
  const records = `${namespace}:{tokens}:records`
  const uses = `${namespace}:{tokens}:uses`
  const readAll: TokenStore['readAll'] = async () => {
    const texts = Object.entries(await orStoreError(redis.hgetall(records)))
    return new Map(texts.map(([hash, text]) => [hash, TokenRecord.parse(parseJson(text))]))
  }
  return {
    readAll,
    async add(hash, record) {
      await orStoreError(redis.hset(records, hash, JSON.stringify(record)))
    },
    async remove(hashes) {
      if (hashes.length === 0) return
      const known = await readAll()
      const ids = hashes.flatMap((hash) => known.get(hash)?.tokenId ?? [])
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
