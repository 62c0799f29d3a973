import type { TokenId } from '#domain/id-schemas.ts'
import { LRUCache } from 'lru-cache'
import { delay } from '#platform/clock.ts'
import { type Log, openStoreUser, type StoreLog } from '#platform/log.ts'
import { isTokenText, type TokenRecord } from './token-record.ts'
import { type KeptTokens, maxTokens, type TokenStore } from './token-store.ts'
import type { Caller, TokenLimits } from '../../http/api-env.ts'

export type TokenTable = {
  /** The token with this hash, as the store had it at most 2 s ago. STORE_001 when the store cannot be read. */
  find(hash: string): Promise<TokenRecord | undefined>
  /** Reads the store again before the next answer, because a token has just been changed. */
  forget(): void
}

type TableClock = { now(): number; delay(ms: number): Promise<void> }

/** Says how long a token stays valid here after another process revoked it. */
const freshMs = 2_000
/** The least time between two reads, however many unknown tokens arrive. */
const restMs = 250

/**
 * Caches all tokens: there are at most a thousand, and a known one then needs no Redis command. An unknown one may have been
 * created a moment ago by another process, so it waits for a read that begins after it arrived. All waiting requests share
 * one read, and there are at most four a second: a flood of unknown tokens costs Redis no more than that.
 */
export function openTokenTable(
  store: { readAll(): Promise<Pick<KeptTokens, 'records'>> },
  clock: TableClock = { now: () => performance.now(), delay },
): TokenTable {
  /** `readAt`: when the read of these `records` began. */
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

/** The last use of a token is stored at most once in this time by each process. */
const noteEveryMs = 60_000

/** Finds the caller of a stored token, unless it has expired, and stores its use without waiting for that. */
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
