import { z } from 'zod'
import { AppError, asAppError, undefinedOn } from '#domain/error.ts'
import { type ProjectId, type RunId, sha256 } from '#domain/ids.ts'
import type { PartCheck } from '#platform/readiness.ts'
import { stateByFault } from './store-fault.ts'

/** One entry of a listing. `lastModified` is milliseconds since the epoch by the store's clock: when it was last put. */
export type ListedObject = { key: string; lastModified: number; bytes: number }

/** `start` ≥ 0 and < `end`. */
export type ByteRange = { start: number; end: number }

/**
 * Holds objects by key in one bucket. STORE_002 when the store does not answer (after bounded retries), STORE_003 when the
 * object is not there. Content-addressed keys make every put repeatable.
 */
export type ObjectStore = {
  put(key: string, body: Uint8Array | string, options?: { contentType?: string }): Promise<void>
  /** Holds one part in memory. INTAKE_003 when it is over `maxBytes`; then, as when `source` throws, nothing is stored. */
  putStream(
    key: string,
    source: AsyncIterable<Uint8Array>,
    options: { maxBytes: number; contentType: string },
  ): Promise<{ bytes: number }>
  get(key: string): Promise<Uint8Array>
  /** Bytes `start` to `end` (exclusive), both inside the object. STORE_002 when the store answers any other number of bytes. */
  getRange(key: string, range: ByteRange): Promise<Uint8Array>
  /** Returns the object's bytes as they arrive; leaving the loop early, or aborting `signal`, ends the request. */
  getStream(key: string, signal?: AbortSignal): AsyncIterable<Uint8Array>
  exists(key: string): Promise<boolean>
  stat(key: string): Promise<ListedObject | undefined>
  /** Deleting a missing object is no error. */
  delete(key: string): Promise<void>
  /** Lists by prefix in the store's order of keys, a page at a time. What is put or deleted meanwhile may be included or not. */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<ListedObject>
  /** Deletes many keys as `delete` does one, 1,000 to a request. On failure some of them may have been deleted. */
  deleteMany(keys: readonly string[], signal?: AbortSignal): Promise<void>
  /** Reads, or after a write for which there was no room writes. STORE_002 after 3 s, and for a bucket that is missing. */
  ping(): Promise<void>
  close(): void
}

/** Reads what is to be stored. INTAKE_003 once it is over `maxBytes`; when it breaks off, the sender is at fault, not the store. */
export async function* readUpload(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  try {
    for await (const chunk of source) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new AppError('INTAKE_003', `the upload is larger than ${maxBytes} bytes`)
      yield chunk
    }
  } catch (error) {
    throw asAppError(error, 'INTAKE_001')
  }
}

const contentType = 'application/json'

/** Stores `value` under a key with the hash of its JSON, and returns the hash. */
export async function putHashedJson(objects: Pick<ObjectStore, 'put'>, keyOf: (hash: string) => string, value: object) {
  const json = JSON.stringify(value)
  const hash = sha256(json)
  await objects.put(keyOf(hash), json, { contentType })
  return hash
}

async function getHashedJson<Schema extends z.ZodType>(
  objects: Pick<ObjectStore, 'get'>,
  key: string,
  hash: string,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const bytes = await objects.get(key)
  if (sha256(bytes) !== hash) throw new AppError('STORE_003', `object ${key} does not have the content it is named by`)
  return parseObject(bytes, key, schema)
}

/**
 * Opens the records of one kind. `put` returns the hash of the record's JSON; `get` throws STORE_003 when it is missing, does
 * not match `schema`, or does not have its hash.
 */
export function projectRecords<Schema extends z.ZodType<object>>(
  keyOf: (project: ProjectId, hash: string) => string,
  schema: Schema,
) {
  return {
    put: (objects: Pick<ObjectStore, 'put'>, project: ProjectId, record: z.infer<Schema>) =>
      putHashedJson(objects, (hash) => keyOf(project, hash), record),
    get: (objects: Pick<ObjectStore, 'get'>, project: ProjectId, hash: string) =>
      getHashedJson(objects, keyOf(project, hash), hash, schema),
  }
}

type OfRun = { projectId: ProjectId; runId: RunId }

/** Opens the records of one kind that belong to runs, and go with them; otherwise the same as `projectRecords`. */
export function runRecords<Schema extends z.ZodType<object>>(
  keyOf: (project: ProjectId, run: RunId, hash: string) => string,
  schema: Schema,
) {
  return {
    put: (objects: Pick<ObjectStore, 'put'>, { projectId, runId }: OfRun, record: z.infer<Schema>) =>
      putHashedJson(objects, (hash) => keyOf(projectId, runId, hash), record),
    get: (objects: Pick<ObjectStore, 'get'>, { projectId, runId, hash }: OfRun & { hash: string }) =>
      getHashedJson(objects, keyOf(projectId, runId, hash), hash, schema),
  }
}

/** Throws STORE_003 when it is not JSON, or does not match `schema`. */
export function parseObject<Schema extends z.ZodType>(bytes: Uint8Array, key: string, schema: Schema): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error)
    throw new AppError('STORE_003', `object ${key} is not what it should be: ${reason}`, { cause: error })
  }
}

export const undefinedWhenMissing = undefinedOn('STORE_003')

export function objectStoreCheck(objects: Pick<ObjectStore, 'ping'>): PartCheck {
  return async (signal) => {
    try {
      await objects.ping()
      return { state: 'ok', message: 'it answers' }
    } catch (error) {
      if (signal.aborted) throw error
      return stateByFault(error)
    }
  }
}

/** Runs `put`, perhaps again, while no collection deletes shared objects (collection-window.ts). */
export type PutPermit = (put: (epoch: string) => Promise<void>) => Promise<void>

const sharedKinds = /^projects\/[^/]+\/(?:blobs|trees|snapshots|bundles)\//

/** Only an object that runs may share may look old and unreferenced just when a new run stores it again. */
export function permittedPuts(objects: ObjectStore, permit: PutPermit): ObjectStore {
  return {
    ...objects,
    put: (key, body, options) =>
      sharedKinds.test(key) ? permit(() => objects.put(key, body, options)) : objects.put(key, body, options),
  }
}
