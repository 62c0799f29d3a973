import { z } from '@hono/zod-openapi'
import { ProjectId } from '#domain/ids.ts'
import { Scope, usualScopes } from '#domain/scope.ts'
import { named } from '../http/named-schema.ts'
import { Time } from '../runs/run-schema.ts'
import { isTokenText, TokenId } from './token-record.ts'

const tenYearsS = 10 * 365 * 24 * 60 * 60

/** What `\P{Cc}` is to readers of the OpenAPI document whose patterns know no properties of characters. */
const noControlCharacters = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`

const ScopeShape = named('Scope', Scope)

export const TokenParams = z.object({ token_id: TokenId })

export const TokenRequest = z
  .strictObject({
    name: z
      .string()
      .max(100)
      .regex(/^\P{Cc}*$/u, 'no control characters')
      .default('')
      .openapi({ description: 'for you to know it by', pattern: noControlCharacters }),
    scopes: z
      .array(ScopeShape)
      .min(1)
      .max(Scope.options.length)
      .default([...usualScopes]),
    expires_in_s: z.int().min(60).max(tenYearsS).optional().openapi({ description: 'without it the token stays' }),
  })
  .openapi('TokenRequest')
export type TokenRequest = z.infer<typeof TokenRequest>

/** A token without its text. */
export const TokenView = z
  .strictObject({
    token_id: TokenId,
    name: z.string(),
    project_id: ProjectId,
    scopes: z.array(ScopeShape),
    created_at: Time,
    expires_at: Time.nullable(),
    expired: z.boolean(),
    last_used_at: Time.nullable().openapi({ description: 'to about a minute' }),
  })
  .openapi('Token')
export type TokenView = z.infer<typeof TokenView>

export const TokenCreated = z
  .strictObject({
    ...TokenView.shape,
    token: z.string().refine(isTokenText).openapi({ description: 'its text, shown this once' }),
  })
  .openapi('TokenCreated')

const UnreadableToken = z.strictObject({ token_id: TokenId }).openapi('UnreadableToken')

export const TokenPage = z
  .strictObject({
    tokens: z.array(TokenView),
    unreadable: z
      .array(UnreadableToken)
      .openapi({ description: 'kept, but damaged or of a newer version: good for nothing here, and can be revoked' }),
  })
  .openapi('TokenPage')
