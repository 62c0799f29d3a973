import { z } from 'zod'
import { ProjectId, TokenId } from '#domain/id-schemas.ts'
import { maxOpenRuns } from '#domain/run.ts'
import { Scope, usualScopes } from '#domain/scope.ts'
import { Time } from './wire-parts.ts'

const tenYearsS = 10 * 365 * 24 * 60 * 60

/** `\P{Cc}` for readers of the OpenAPI document whose patterns do not support Unicode properties. */
const noControlCharacters = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`

export const ScopeShape = Scope.meta({ id: 'Scope' })

const RequestsPerMinute = z.int().min(1).max(1_000_000)
const OpenRuns = z.int().min(1).max(maxOpenRuns)

export const TokenRequest = z
  .strictObject({
    name: z
      .string()
      .max(100)
      .regex(/^\P{Cc}*$/u, 'no control characters')
      .default('')
      .meta({ description: 'a name to recognise it by', pattern: noControlCharacters }),
    scopes: z
      .array(ScopeShape)
      .min(1)
      .max(Scope.options.length)
      .default([...usualScopes]),
    expires_in_s: z.int().min(60).max(tenYearsS).optional().meta({ description: 'absent: it does not expire' }),
    requests_per_minute: RequestsPerMinute.optional().meta({
      description: 'how many it may send at once, and a minute in the long run',
    }),
    runs: OpenRuns.optional().meta({ description: 'how many of its runs may go on at the same time' }),
    project_id: ProjectId.optional().meta({ description: 'absent: your own; only the operator may name another' }),
  })
  .meta({ id: 'TokenRequest' })
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
    requests_per_minute: RequestsPerMinute.nullable().meta({ description: 'null: as the settings say' }),
    runs: OpenRuns.nullable().meta({ description: 'that may go on at the same time; null: as the settings say' }),
    last_used_at: Time.nullable().meta({ description: 'to about a minute' }),
  })
  .meta({ id: 'Token' })
export type TokenView = z.infer<typeof TokenView>

export const TokenCreated = z
  .strictObject({
    ...TokenView.shape,
    token: z.string().meta({ description: 'its text, shown only here' }),
  })
  .meta({ id: 'TokenCreated' })

const UnreadableToken = z.strictObject({ token_id: TokenId }).meta({ id: 'UnreadableToken' })

export const TokenPage = z
  .strictObject({
    tokens: z.array(TokenView),
    unreadable: z
      .array(UnreadableToken)
      .meta({ description: 'damaged, or of a newer version: they grant nothing here, and can be revoked' }),
  })
  .meta({ id: 'TokenPage' })
