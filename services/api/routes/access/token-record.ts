import { z } from 'zod'
import { TokenId } from '#domain/id-schemas.ts'
import { ProjectId, sha256 } from '#domain/ids.ts'
import { Scope } from '#domain/scope.ts'
import { parseJson } from '#domain/json.ts'

/** It is in ms since the epoch, up to the year 9999: an answer shows four digits. */
export const TokenTime = z
  .int()
  .min(0)
  .max(Date.UTC(9999, 11, 31))

/** The record is stored under the SHA-256 of the token's text, which is not stored. Times are milliseconds. */
export const TokenRecord = z.object({
  tokenId: TokenId,
  projectId: ProjectId,
  name: z.string(),
  scopes: z.array(z.string()).transform((names) => names.flatMap((name) => Scope.safeParse(name).data ?? [])),
  createdAt: TokenTime,
  /** null means never. */
  expiresAt: TokenTime.nullable(),
  /** Those of the settings count where it has none. */
  requestsPerMinute: z.int().min(1).optional(),
  runs: z.int().min(1).optional(),
})
export type TokenRecord = z.infer<typeof TokenRecord>

/** Secret scanners find a leaked token by its prefix. */
export function tokenText(secret: Uint8Array): string {
  return `rmr_${Buffer.from(secret).toString('base64url')}`
}

/** A text of another form is never looked up. */
export function isTokenText(text: string): boolean {
  return /^rmr_[A-Za-z0-9_-]{43}$/.test(text)
}

export function tokenIdOf(text: string): TokenId {
  return `t${sha256(`id\0${text}`).slice(0, 16)}`
}

/** Its record is damaged. It grants nothing, but can be revoked. */
export type UnreadableToken = {
  /** It is made from the hash where the record's own cannot be read. */
  tokenId: TokenId
  /** Only the operator sees and may revoke a token whose project cannot be read. */
  projectId: ProjectId | undefined
}

const Legible = z
  .object({ tokenId: TokenId.optional().catch(undefined), projectId: ProjectId.optional().catch(undefined) })
  .catch({})

/** It is always the same for the same record. */
export function unreadableToken(hash: string, text: string): UnreadableToken {
  const { tokenId = `t${sha256(`unreadable\0${hash}`).slice(0, 16)}`, projectId } = Legible.parse(parseJson(text))
  return { tokenId, projectId }
}
