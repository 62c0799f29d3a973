import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/hash.ts'
import { RunId } from '#domain/ids.ts'

/** What an `Idempotency-Key` stands for: which body came with it first, and the run that body became. */
export const IdempotencyRecord = z.strictObject({ bodyHash: z.string(), runId: RunId })
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

/** The key as the header gave it: 1 to 255 visible characters, else INTAKE_008. */
export function parseIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined || /^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw new AppError('INTAKE_008', 'Idempotency-Key: 1 to 255 visible ASCII characters')
}

function parse(text: string | null): IdempotencyRecord | undefined {
  return text === null ? undefined : IdempotencyRecord.parse(JSON.parse(text))
}
