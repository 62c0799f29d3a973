import { z } from 'zod'
import { AppError, hasCode, undefinedOn } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { objectStoreName, type StoreLog } from '#platform/log.ts'
import type { PartCheck } from '#platform/readiness.ts'
import { stateByFault } from './s3-fault.ts'

/** One entry of a listing. `lastModified` is milliseconds since the epoch by the store's clock: when it was last put. */
export type ListedObject = { key: string; lastModified: number; bytes: number }

/** `start` ≥ 0 and < `end`. */
export type ByteRange = { start: number; end: number }

/**
 * Objects by key in one bucket. Every failure is an AppError: STORE_002 when the store does not answer (after bounded
 * retries), STORE_003 when the object is not there. Content-addressed keys make every put repeatable.
 */
export type ObjectStore = {
  put(key: string, body: Uint8Array | string, options?: { contentType?: string }): Promise<void>
  /**
   * Stores a stream of unknown length, holding one part of it in memory. INTAKE_003 when it is over `maxBytes`; then,
   * as when `source` throws, no object is stored under `key` and what was sent is dropped.
   */
  putStream(
    key: string,
    source: AsyncIterable<Uint8Array>,
    options: { maxBytes: number; contentType: string },
  ): Promise<{ bytes: number }>
  get(key: string): Promise<Uint8Array>
  /** Bytes `start` to `end` (exclusive), both inside the object. STORE_002 when the store answers any other number of bytes. */
  getRange(key: string, range: ByteRange): Promise<Uint8Array>
  /** The object's bytes as they arrive; leaving the loop early, or aborting `signal`, ends the request. */
  getStream(key: string, signal?: AbortSignal): AsyncIterable<Uint8Array>
  exists(key: string): Promise<boolean>
  stat(key: string): Promise<ListedObject | undefined>
  /** Deleting a missing object is no error. */
  delete(key: string): Promise<void>
  /**
   * Every object whose key starts with `prefix`, in the store's order of keys, a page at a time. Objects that are put
   * or deleted meanwhile may be included or not.
   */
  list(prefix: string, signal?: AbortSignal): AsyncIterable<ListedObject>
  /** Like `delete` for many keys, 1,000 to a request. On failure some of them may have been deleted. */
  deleteMany(keys: readonly string[], signal?: AbortSignal): Promise<void>
  /** A read, or after a write for which the store had no room another write. A bucket that is missing is STORE_002. */
  ping(signal?: AbortSignal): Promise<void>
  close(): void
}

const contentType = 'application/json'

/** Stores `value` under a key with the hash of its JSON, and returns the hash. */
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

/** STORE_003 when the object is missing, does not match `schema`, or its bytes do not have the hash in its name. */
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

/** STORE_003 when it is not JSON, or does not match `schema`. */
export function parseObject<Schema extends z.ZodType>(bytes: Uint8Array, key: string, schema: Schema): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error)
    throw new AppError('STORE_003', `object ${key} is not what it should be: ${reason}`, { cause: error })
  }
}

/** For `get(key).catch(…)`. */
export const undefinedWhenMissing = undefinedOn('STORE_003')

/** Whether the store answers, and takes writes. */
export function objectStoreCheck(objects: Pick<ObjectStore, 'ping'>): PartCheck {
  return async (signal) => {
    try {
      await objects.ping(signal)
      return { state: 'ok', message: 'it answers' }
    } catch (error) {
      if (signal.aborted) throw error
      return stateByFault(error)
    }
  }
}

/**
 * `objects`, whose outages are logged: STORE_002 begins one, and requests that are answered end it. Each request on each kind
 * of object counts for itself, since a store may refuse one kind, such as every write, while it answers the others. `measured`
 * is called at the end of each request.
 */
export function loggedOutages(objects: ObjectStore, log: StoreLog, measured?: MeasureRequest): ObjectStore {
  const begin = openRequestNotes(log, measured)
  const watched =
    <Args extends unknown[], Answer>(name: string, request: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      const begun = begin(name, args[0])
      try {
        const answer = await request(...args)
        begun.good()
        return answer
      } catch (error) {
        begun.fault(error)
        throw error
      }
    }
  const watchedStream = <Item>(name: string, read: (key: string, signal?: AbortSignal) => AsyncIterable<Item>) =>
    async function* stream(key: string, signal?: AbortSignal): AsyncGenerator<Item> {
      const begun = begin(name, key)
      try {
        yield* read(key, signal)
        begun.good()
      } catch (error) {
        begun.fault(error)
        throw error
      }
    }
  return {
    ...objects,
    put: watched('put', objects.put),
    putStream: watched('put', objects.putStream),
    get: watched('get', objects.get),
    getRange: watched('get', objects.getRange),
    stat: watched('get', objects.stat),
    exists: watched('get', objects.exists),
    getStream: watchedStream('get', objects.getStream),
    list: watchedStream('list', objects.list),
    delete: watched('delete', objects.delete),
    deleteMany: watched('delete', objects.deleteMany),
    ping: watched('ping', objects.ping),
  }
}

/** Reports the end of each request to the log, which knows the outages, and to `measured`. */
function openRequestNotes(log: StoreLog, measured: MeasureRequest | undefined) {
  const parts = new Map<string, object>()
  return (name: string, key: unknown) => {
    const part = getOrMake(parts, `${name} ${kindOf(key)}`, () => ({}))
    const start = performance.now()
    const ended = (result: RequestResult) => measured?.(name, result, (performance.now() - start) / 1000)
    return {
      good() {
        log.working(objectStoreName, part)
        ended('ok')
      },
      fault(error: unknown) {
        if (hasCode(error, 'STORE_002')) log.failing(objectStoreName, part, error)
        else if (hasCode(error, 'STORE_003')) log.working(objectStoreName, part)
        ended(resultOf(error))
      },
    }
  }
}

/** `fault`: the request could not be made, such as an upload over its limit. */
type RequestResult = 'ok' | 'missing' | 'away' | 'fault'

/** `request` is one of put, get, list, delete, ping. A stream lasts until it is read. */
export type MeasureRequest = (request: string, result: RequestResult, seconds: number) => void

function resultOf(error: unknown): RequestResult {
  if (hasCode(error, 'STORE_002')) return 'away'
  return hasCode(error, 'STORE_003') ? 'missing' : 'fault'
}

/** `blobs`, `uploads`, `events` … of an object's key. */
function kindOf(key: unknown): string {
  return (typeof key === 'string' ? /^projects\/[^/]+\/(?:runs\/[^/]+\/)?([^/]+)/.exec(key)?.[1] : undefined) ?? 'other'
}
/**
 * Runs `put` while no collection deletes shared objects; `put` may run again. What this process has put in the same `epoch`
 * was deleted by none, unless it was old (collection-window.ts).
 */
export type PutPermit = (put: (epoch: string) => Promise<void>) => Promise<void>

const sharedKinds = /^projects\/[^/]+\/(?:blobs|trees|snapshots|bundles)\//

/**
 * `objects`, except that every put of an object that several runs may share is made under `permit`. Only such an object may
 * look old and unreferenced to a collection just when a new run stores it again; every other kind belongs to a single run.
 */
export function permittedPuts(objects: ObjectStore, permit: PutPermit): ObjectStore {
  return {
    ...objects,
    put: (key, body, options) =>
      sharedKinds.test(key) ? permit(() => objects.put(key, body, options)) : objects.put(key, body, options),
  }
}
