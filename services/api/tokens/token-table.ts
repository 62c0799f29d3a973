import { LRUCache } from 'lru-cache'
import { delay } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { isTokenText, type TokenId, type TokenRecord } from './token-record.ts'
import { type KeptTokens, maxTokens, type TokenStore } from './token-store.ts'
import type { Caller } from '../http/api-env.ts'

export type TokenTable = {
  /** The token with this hash, as the store had it at most 2 s ago. STORE_001 when that cannot be said. */
  find(hash: string): Promise<TokenRecord | undefined>
  /** Looks again before the next answer: something has just been changed. */
  forget(): void
}

type TableClock = { now(): number; delay(ms: number): Promise<void> }

/** A token that was revoked by another process is good for so long. */
const freshMs = 2_000
/** From one reading to the next, however many unknown tokens come. */
const restMs = 250

/**
 * All tokens in memory: there are at most a thousand, and a known one costs no command of Redis. An unknown one may have
 * been made a moment ago by another process, so it waits for a reading that began after it came; all that wait share
 * one, at most four times a second. A flood of unknown tokens hence costs Redis no more than that.
 */
export function openTokenTable(
  store: { readAll(): Promise<Pick<KeptTokens, 'records'>> },
  clock: TableClock = { now: () => performance.now(), delay },
): TokenTable {
  /** `readAt`: when the reading began that `records` are from. */
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

/** How coarsely the last use of a token is noted: one write in this time, per process. */
const noteEveryMs = 60_000

/** Who a stored token stands for; an expired one for nobody. Uses are noted on the way, without waiting for the note. */
export function openStoredCallers({
  table,
  store,
  log,
}: {
  table: TokenTable
  store: Pick<TokenStore, 'noteUse'>
  log: Pick<Log, 'warn'>
}): (token: string, hash: string) => Promise<Caller | undefined> {
  const noted = new LRUCache<TokenId, true>({ max: maxTokens, ttl: noteEveryMs })
  const note = (hash: string, tokenId: TokenId, now: number) => {
    if (noted.has(tokenId)) return
    noted.set(tokenId, true)
    store.noteUse(hash, tokenId, now).catch((error: unknown) => log.warn('the use of a token was not noted', { error }))
  }
  return async (token, hash) => {
    const record = isTokenText(token) ? await table.find(hash) : undefined
    const now = Date.now()
    if (record === undefined || (record.expiresAt !== null && record.expiresAt <= now)) return undefined
    note(hash, record.tokenId, now)
    return { projectId: record.projectId, scopes: record.scopes, tokenId: record.tokenId }
  }
}
