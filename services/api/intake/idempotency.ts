import { z } from '@hono/zod-openapi'
import { RunId, sha256 } from '#domain/ids.ts'

/** What an `Idempotency-Key` stands for: which body came with it first, and the run or the token that body became. */
export const IdempotencyRecord = z.union([
  z.strictObject({ bodyHash: z.string(), runId: RunId }),
  z.strictObject({ bodyHash: z.string(), tokenSalt: z.string() }),
])
export type IdempotencyRecord = z.infer<typeof IdempotencyRecord>

export type IdempotencyStore = {
  find(projectId: string, key: string): Promise<IdempotencyRecord | undefined>
  /** The record that holds from now on: the given one, or the one that was there before. Atomic. */
  claim(projectId: string, key: string, record: IdempotencyRecord): Promise<IdempotencyRecord>
}

const keptSeconds = 24 * 60 * 60

/** The least of a Redis client this needs. */
type Strings = {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ex: 'EX', seconds: number, nx: 'NX', get: 'GET'): Promise<string | null>
}

/** Keys of a project, remembered in Redis for 24 hours. The key itself is stored only as a hash. */
export function openIdempotencyStore(redis: Strings, namespace = 'remora'): IdempotencyStore {
  const nameOf = (projectId: string, key: string) => `${namespace}:{${projectId}}:idempotency:${sha256(key)}`
  return {
    async find(projectId, key) {
      return parse(await redis.get(nameOf(projectId, key)))
    },
    async claim(projectId, key, record) {
      const text = JSON.stringify(record)
      const earlier = await redis.set(nameOf(projectId, key), text, 'EX', keptSeconds, 'NX', 'GET')
      return parse(earlier) ?? record
    },
  }
}

/** The key of a POST that creates. */
export const IdempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, '1 to 255 visible ASCII characters')
    .optional()
    .openapi({
      description: 'the same key with the same body gives the same answer for 24 hours, with another body INTAKE_005',
    }),
})

function parse(text: string | null): IdempotencyRecord | undefined {
  return text === null ? undefined : IdempotencyRecord.parse(JSON.parse(text))
}
