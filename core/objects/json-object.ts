import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/hash.ts'
import type { ObjectStore } from './object-store.ts'

const contentType = 'application/json'

/** Stores `value` under the key made of its JSON's hash, and answers the hash. */
export async function putHashedJson(
  objects: Pick<ObjectStore, 'put'>,
  keyOf: (hash: string) => string,
  value: object,
): Promise<string> {
  const json = JSON.stringify(value)
  const hash = sha256(json)
  await objects.put(keyOf(hash), json, { contentType })
  return hash
}

/**
 * Reads and parses an object. STORE_003 when it is missing, off `schema`, or its bytes do not have the hash it is named
 * by.
 */
export async function getHashedJson<Schema extends z.ZodType>(
  objects: Pick<ObjectStore, 'get'>,
  key: string,
  hash: string,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const bytes = await objects.get(key)
  if (sha256(bytes) !== hash) throw new AppError('STORE_003', `object ${key} does not have the content it is named by`)
  return parseObject(bytes, key, schema)
}

/** STORE_003 when it is no JSON, or off `schema`. */
export function parseObject<Schema extends z.ZodType>(bytes: Uint8Array, key: string, schema: Schema): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error)
    throw new AppError('STORE_003', `object ${key} is not what it should be: ${reason}`, { cause: error })
  }
}
