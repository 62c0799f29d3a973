import { LRUCache } from 'lru-cache'
import type { Log } from '#platform/log.ts'
import type { Caller } from '../http/api-env.ts'
import { isTokenText, type TokenId } from './token-record.ts'
import { maxTokens, type TokenStore } from './token-store.ts'
import type { TokenTable } from './token-table.ts'

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
