import { z } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import { newToken, RunId, sha256 } from '#domain/ids.ts'

/** Says what an `Idempotency-Key` stands for: the body that first came with it, and the run, its generation or the token that came of it. */
export const IdempotencyRecord = z.union([
  z.strictObject({ bodyHash: z.string(), runId: RunId, generation: z.int().optional() }),
  z.strictObject({ bodyHash: z.string(), tokenSalt: z.string() }),
])
export type IdempotencyRecord = z.infer<typeof IdempotencyRecord>

export type IdempotencyStore = {
  find(projectId: string, key: string): Promise<IdempotencyRecord | undefined>
  /** Atomically stores the record unless the key has one, and returns the one that is stored then. */
  claim(projectId: string, key: string, record: IdempotencyRecord): Promise<IdempotencyRecord>
}

const keptSeconds = 24 * 60 * 60

/** The part of a Redis client that is needed here. */
type Strings = {
  get(key: string): Promise<string | null>
  set(key: string, value: string, ex: 'EX', seconds: number, nx: 'NX', get: 'GET'): Promise<string | null>
}

/** Stores the keys of projects in Redis for 24 hours, each only as a hash. */
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

/** The header of a POST that creates something. */
export const IdempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, '1 to 255 visible ASCII characters')
    .optional()
    .openapi({
      description: 'the same key with the same body gives the same answer for 24 hours, with another body INTAKE_005',
    }),
})

/** Throws INTAKE_005 for a key that came before with another body, or to another run. */
export async function expectSameBody(
  { projectId, key, runId, body }: { projectId: string; key: string | undefined; runId: RunId; body: unknown },
  idempotency: IdempotencyStore,
): Promise<void> {
  if (key === undefined) return
  const bodyHash = sha256(JSON.stringify([runId, body]))
  const first = await idempotency.claim(projectId, key, { bodyHash, runId })
  if (first.bodyHash === bodyHash) return
  throw new AppError('INTAKE_005', 'This Idempotency-Key was used before with another request.')
}

/** Names what a request asks the ledger for, which keeps the name with it: so long the same key has it done once. */
export function commandOf(idempotencyKey: string | undefined): string {
  return idempotencyKey === undefined ? newToken() : `key/${sha256(idempotencyKey)}`
}

function parse(text: string | null): IdempotencyRecord | undefined {
  return text === null ? undefined : IdempotencyRecord.parse(JSON.parse(text))
}
