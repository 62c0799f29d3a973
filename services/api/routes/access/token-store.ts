import { z } from 'zod'
import type { TokenId } from '#domain/id-schemas.ts'
import { parseJson } from '#domain/json.ts'
import { orStoreError } from '#store/ledger/store.ts'
import type { Log } from '#platform/log.ts'
import type { Signer } from '#platform/signer.ts'
import { TokenRecord, TokenTime, unreadableToken, type UnreadableToken } from './token-record.ts'

/** Keys are SHA-256 of texts; expired tokens are included. */
export type KeptTokens = { records: Map<string, TokenRecord>; unreadable: Map<string, UnreadableToken> }

export type TokenStore = {
  /** A record that cannot be read is logged once. */
  readAll(): Promise<KeptTokens>
  /** Stores nothing when the token was removed in the last 24 hours, or is new and there are `maxTokens` already. */
  add(hash: string, record: TokenRecord): Promise<'kept' | 'removed before' | 'no room'>
  remove(hashes: readonly string[]): Promise<void>
  /** Times are milliseconds; they lag behind. */
  lastUses(): Promise<Map<string, number>>
  noteUse(hash: string, tokenId: TokenId, atMs: number): Promise<void>
}

/** All are read at once every few seconds, so there must not be many. */
export const maxTokens = 1_000

type Hashes = {
  hgetall(key: string): Promise<Record<string, string>>
  set(key: string, value: string, ex: 'EX', seconds: number): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  hdel(key: string, ...fields: string[]): Promise<number>
}

const UseTime = z.string().regex(/^\d+$/).transform(Number).pipe(TokenTime)
const Added = z.enum(['kept', 'removed before', 'no room'])

/** Afterwards no `Idempotency-Key` from before the removal can create the same token again. */
const removedSeconds = 24 * 60 * 60

/** A token that is removed while it is added again must not come back, and two must not get the last free slot. */
const addIfAllowed = `
if redis.call('EXISTS', KEYS[2]) == 1 then return 'removed before' end
local full = redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3])
if full and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 'no room' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 'kept'`

/** A process that has not read a removal yet must not store uses, which nothing would ever delete. */
const noteIfKept = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('HSET', KEYS[2], ARGV[2], ARGV[3]) end`

/** All keys are in one slot of a cluster: `records` by the token's hash, `uses` by its id, and for a day a key for each removed token. */
export function openTokenStore(
  redis: Hashes,
  { log, signer, namespace = 'remora' }: { log: Pick<Log, 'warn'>; signer: Signer; namespace?: string },
): TokenStore {
  const records = `${namespace}:{tokens}:records`
  const uses = `${namespace}:{tokens}:uses`
  const removed = (hash: string) => `${namespace}:{tokens}:removed:${hash}`
  let known = new Set<string>()
  const logFresh = (unreadable: KeptTokens['unreadable']) => {
    const fresh = [...unreadable].filter(([hash]) => !known.has(hash)) // they are read every few seconds
    known = new Set(unreadable.keys())
    for (const [hash, { tokenId }] of fresh) {
      log.warn('a token cannot be read and is ignored', { hash: hash.slice(0, 12), key: records, token: tokenId })
    }
  }
  const readAll: TokenStore['readAll'] = async () => {
    const kept = parsed(await orStoreError(redis.hgetall(records)), signer)
    logFresh(kept.unreadable)
    return kept
  }
  return {
    readAll,
    async add(hash, record) {
      const json = JSON.stringify(record)
      const args = [hash, `${signer.sign('token', hash, json)} ${json}`, String(maxTokens)]
      return Added.parse(await orStoreError(redis.eval(addIfAllowed, 2, records, removed(hash), ...args)))
    },
    async remove(hashes) {
      if (hashes.length === 0) return
      const kept = await readAll()
      const ids = hashes.flatMap((hash) => (kept.records.get(hash) ?? kept.unreadable.get(hash))?.tokenId ?? [])
      await orStoreError(Promise.all(hashes.map((hash) => redis.set(removed(hash), '', 'EX', removedSeconds))))
      await orStoreError(redis.hdel(records, ...hashes))
      if (ids.length > 0) await orStoreError(redis.hdel(uses, ...ids))
    },
    async lastUses() {
      const texts = Object.entries(await orStoreError(redis.hgetall(uses)))
      const times = texts.map(([tokenId, text]) => [tokenId, UseTime.safeParse(text).data] as const)
      return new Map(times.flatMap(([tokenId, at]) => (at === undefined ? [] : [[tokenId, at] as const])))
    },
    async noteUse(hash, tokenId, atMs) {
      await orStoreError(redis.eval(noteIfKept, 2, records, uses, hash, tokenId, String(atMs)))
    },
  }
}

/** A record without the right signature is none of ours, whatever it says. */
function parsed(texts: Readonly<Record<string, string>>, signer: Signer): KeptTokens {
  const kept: KeptTokens = { records: new Map(), unreadable: new Map() }
  for (const [hash, text] of Object.entries(texts)) {
    const at = text.indexOf(' ')
    const json = text.slice(at + 1)
    const record = TokenRecord.safeParse(parseJson(json))
    if (record.success && signer.isSigned(text.slice(0, at), 'token', hash, json)) kept.records.set(hash, record.data)
    else kept.unreadable.set(hash, unreadableToken(hash, json))
  }
  return kept
}
