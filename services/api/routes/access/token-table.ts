import type { TokenId } from '#domain/id-schemas.ts'
import { LRUCache } from 'lru-cache'
import { delay } from '#platform/clock.ts'
import { type Log, openStoreUser, type StoreLog } from '#platform/log.ts'
import { isTokenText, type TokenRecord } from './token-record.ts'
import { type KeptTokens, maxTokens, type TokenStore } from './token-store.ts'
import type { Caller, TokenLimits } from '../../http/api-env.ts'

export type TokenTable = {
  /** The record is at most 2 s old. STORE_001 when the store cannot be read. */
  find(hash: string): Promise<TokenRecord | undefined>
  /** Reads the store again before the next answer, because a token has just been changed. */
  forget(): void
}

type TableClock = { now(): number; delay(ms: number): Promise<void> }

/** Says how long a token stays valid here after another process revoked it. */
const freshMs = 2_000
/** It holds however many unknown tokens arrive. */
const restMs = 250

/** A known token needs no Redis command; an unknown one waits for a read that begins after it arrived, which all waiting share. */
export function openTokenTable(
  store: { readAll(): Promise<Pick<KeptTokens, 'records'>> },
  clock: TableClock = { now: () => performance.now(), delay },
): TokenTable {
  /** `readAt` is when the read of these `records` began. */
  const known = { records: new Map<string, TokenRecord>(), readAt: -Infinity }
  let begunAt = -Infinity
  let changedAt = -Infinity
  let reading: Promise<void> | undefined
  const read = async () => {
    try {
      const restLeftMs = begunAt + restMs - clock.now()
      if (restLeftMs > 0) await clock.delay(restLeftMs)
      const readAt = clock.now()
      begunAt = readAt
      Object.assign(known, { records: (await store.readAll()).records, readAt })
    } finally {
      reading = undefined
    }
  }
  const readSince = async (since: number) => {
    while (known.readAt < since) await (reading ??= read())
  }
  return {
    async find(hash) {
      const now = clock.now()
      await readSince(known.records.has(hash) ? Math.max(changedAt, now - freshMs) : now)
      return known.records.get(hash)
    },
    forget() {
      changedAt = clock.now()
    },
  }
}

/** Each process stores the last use of a token at most once in this time. */
const noteEveryMs = 60_000

/** An expired token has no caller. The use is stored without waiting for it. */
export function openStoredCallers(deps: {
  table: TokenTable
  store: Pick<TokenStore, 'noteUse'>
  log: StoreLog & Pick<Log, 'warn'>
  /** Holds for tokens that have none of their own. */
  limits: TokenLimits
}): (token: string, hash: string) => Promise<Caller | undefined> {
  const { table, store, log } = deps
  const stores = openStoreUser(log)
  const noted = new LRUCache<TokenId, true>({ max: maxTokens, ttl: noteEveryMs })
  const note = (hash: string, tokenId: TokenId, now: number) => {
    if (noted.has(tokenId)) return
    noted.set(tokenId, true)
    store.noteUse(hash, tokenId, now).then(stores.worked, (error: unknown) => {
      if (!stores.failed(error)) log.warn('the use of a token was not noted', { error })
    })
  }
  return async (token, hash) => {
    const record = isTokenText(token) ? await table.find(hash) : undefined
    const now = Date.now()
    if (record === undefined || (record.expiresAt !== null && record.expiresAt <= now)) return undefined
    note(hash, record.tokenId, now)
    const { projectId, scopes, tokenId, name } = record
    const ownLimits = { requestsPerMinute: record.requestsPerMinute ?? null, runs: record.runs ?? null }
    const limits = {
      requestsPerMinute: ownLimits.requestsPerMinute ?? deps.limits.requestsPerMinute,
      runs: ownLimits.runs ?? deps.limits.runs,
    }
    return { projectId, scopes, tokenId, ...(name === '' ? {} : { name }), isOperator: false, limits, ownLimits }
  }
}
