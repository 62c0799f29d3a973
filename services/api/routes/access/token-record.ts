import { z } from 'zod'
import { TokenId } from '#domain/id-schemas.ts'
import { ProjectId, sha256 } from '#domain/ids.ts'
import { Scope } from '#domain/scope.ts'
import { parseJson } from '#domain/json.ts'

/** Milliseconds since the epoch, up to the year 9999: an answer shows four digits. */
export const TokenTime = z
  .int()
  .min(0)
  .max(Date.UTC(9999, 11, 31))

/**
 * Describes what is stored of a token, under the SHA-256 of its text, which is not stored itself. Times are milliseconds. Fields
 * and scopes that a newer version has added are ignored.
 */
export const TokenRecord = z.object({
  tokenId: TokenId,
  projectId: ProjectId,
  name: z.string(),
  scopes: z.array(z.string()).transform((names) => names.flatMap((name) => Scope.safeParse(name).data ?? [])),
  createdAt: TokenTime,
  /** null: never. */
  expiresAt: TokenTime.nullable(),
  /** Limits; absent: those of the settings. */
  requestsPerMinute: z.int().min(1).optional(),
  runs: z.int().min(1).optional(),
})
export type TokenRecord = z.infer<typeof TokenRecord>

/** The text of a token: 256 bits after a prefix by which secret scanners can find a leaked one. */
export function tokenText(secret: Uint8Array): string {
  return `rmr_${Buffer.from(secret).toString('base64url')}`
}

/** Is true when a text has the form of a token. One that has not is never looked up. */
export function isTokenText(text: string): boolean {
  return /^rmr_[A-Za-z0-9_-]{43}$/.test(text)
}

/** The id of a token, for places where its text must not be seen. */
export function tokenIdOf(text: string): TokenId {
  return `t${sha256(`id\0${text}`).slice(0, 16)}`
}

/** A stored token whose record is damaged or of a version that cannot be read here. It grants nothing, but can be revoked. */
export type UnreadableToken = {
  /** The record's own id if that can be read, else one made from its hash. */
  tokenId: TokenId
  /** Undefined when that cannot be read either: then only the operator sees it and may revoke it. */
  projectId: ProjectId | undefined
}

const Legible = z
  .object({ tokenId: TokenId.optional().catch(undefined), projectId: ProjectId.optional().catch(undefined) })
  .catch({})

/** Returns what is known of the unreadable record `text`, stored under `hash`. It is always the same for the same record. */
export function unreadableToken(hash: string, text: string): UnreadableToken {
  const { tokenId = `t${sha256(`unreadable\0${hash}`).slice(0, 16)}`, projectId } = Legible.parse(parseJson(text))
  return { tokenId, projectId }
}
