import { z } from 'zod'
import { ProjectId, sha256 } from '#domain/ids.ts'
import { Scope } from '#domain/scope.ts'
import { parseJson } from '#domain/json.ts'

export const TokenId = z.string().regex(/^t[0-9a-f]{16}$/)
export type TokenId = z.infer<typeof TokenId>

/** Milliseconds since the epoch, in the four-digit years that an answer can say. */
export const TokenTime = z
  .int()
  .min(0)
  .max(Date.UTC(9999, 11, 31))

/**
 * What is kept of a token, under the SHA-256 of its text, which is kept nowhere. Times are milliseconds. What a newer
 * version has added is passed over: its fields, and scopes that mean nothing here.
 */
export const TokenRecord = z.object({
  tokenId: TokenId,
  projectId: ProjectId,
  name: z.string(),
  scopes: z.array(z.string()).transform((names) => names.flatMap((name) => Scope.safeParse(name).data ?? [])),
  createdAt: TokenTime,
  /** null: never. */
  expiresAt: TokenTime.nullable(),
})
export type TokenRecord = z.infer<typeof TokenRecord>

const prefix = 'rmr_'

/** The text of a token: 256 bits behind a prefix by which a leaked one can be found. */
export function tokenText(secret: Uint8Array): string {
  return `${prefix}${Buffer.from(secret).toString('base64url')}`
}

/** Whether a text can be a token at all; what cannot is looked up nowhere. */
export function isTokenText(text: string): boolean {
  return /^rmr_[A-Za-z0-9_-]{43}$/.test(text)
}

/** The name a token goes by where its text must not be seen. */
export function tokenIdOf(text: string): TokenId {
  return `t${sha256(`id\0${text}`).slice(0, 16)}`
}

/** A kept token whose record is damaged, or of a version this one cannot read. It grants nothing, and can be revoked. */
export type UnreadableToken = {
  /** The record's own where that much can be read, else one that stands for its hash. */
  tokenId: TokenId
  /** Undefined when that cannot be read either: it is then anybody's who manages tokens. */
  projectId: ProjectId | undefined
}

const Legible = z
  .object({ tokenId: TokenId.optional().catch(undefined), projectId: ProjectId.optional().catch(undefined) })
  .catch({})

/** What can be said of a record that is none, kept under `hash`. The same every time. */
export function unreadableToken(hash: string, text: string): UnreadableToken {
  const { tokenId = `t${sha256(`unreadable\0${hash}`).slice(0, 16)}`, projectId } = Legible.parse(parseJson(text))
  return { tokenId, projectId }
}
