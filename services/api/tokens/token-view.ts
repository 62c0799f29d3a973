import { isoTime } from '../runs/iso-time.ts'
import type { TokenRecord } from './token-record.ts'
import type { TokenView } from './token-schema.ts'

/** A token for those who manage it. Times are milliseconds since the epoch. */
export function tokenView(
  record: TokenRecord,
  { lastUsedAt, now }: { lastUsedAt: number | null; now: number },
): TokenView {
  return {
    token_id: record.tokenId,
    name: record.name,
    project_id: record.projectId,
    scopes: record.scopes,
    created_at: isoTime(record.createdAt),
    expires_at: isoTime(record.expiresAt),
    expired: record.expiresAt !== null && record.expiresAt <= now,
    last_used_at: isoTime(lastUsedAt),
  }
}
