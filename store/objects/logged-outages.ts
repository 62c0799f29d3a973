import { hasCode } from '#domain/error.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type Clock, repeatEvery, systemClock } from '#platform/clock.ts'
import { objectStoreName, type StoreLog } from '#platform/log.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * `objects`, whose outages are logged: STORE_002 begins one, and so does a request that gets no answer for 10 s, while no other of
 * its kind does; requests that are answered end it. Each request on each kind of object counts for itself, since a store may
 * refuse one kind, such as every write, while it answers the others. `measured` is called at the end of each request.
 */
export function loggedOutages(
  objects: ObjectStore,
  log: StoreLog,
  measured?: MeasureRequest,
  clock: Pick<Clock, 'after'> = systemClock,
): ObjectStore {
  const begin = openRequestNotes(log, measured)
  const timed = openSilenceWatch(log, clock)
  const watched = (name: string) => {
    return <Args extends unknown[], Answer>(request: (...args: Args) => Promise<Answer>) =>
      (...args: Args): Promise<Answer> => {
        const begun = begin(name, args[0])
        return timed(begun.part, noted(begun, request(...args)), bytesOf(args[1]))
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
  const [put, get, remove] = [watched('put'), watched('get'), watched('delete')]
  return {
    ...objects,
    put: put(objects.put),
    // How long a stream lasts is up to who sends or reads it.
    putStream: (...args) => noted(begin('put', args[0]), objects.putStream(...args)),
    get: get(objects.get),
    getRange: get(objects.getRange),
    stat: get(objects.stat),
    exists: get(objects.exists),
    getStream: watchedStream('get', objects.getStream),
    list: watchedStream('list', objects.list),
    delete: remove(objects.delete),
    deleteMany: remove(objects.deleteMany),
    ping: watchedPing(objects.ping, begin),
  }
}

const [watchMs, answerMs] = [5_000, 1_000]

/** Pings a store whose outages are logged, so that the log has them also while nothing is asked of it. Returns a stop. */
export function watchStore(objects: Pick<ObjectStore, 'ping'>): () => Promise<void> {
  return repeatEvery(watchMs, () => objects.ping(AbortSignal.timeout(answerMs)))
}

type Begin = ReturnType<typeof openRequestNotes>

async function noted<Answer>({ good, fault }: ReturnType<Begin>, request: Promise<Answer>): Promise<Answer> {
  try {
    const answer = await request
    good()
    return answer
  } catch (error) {
    fault(error)
    throw error
  }
}

/**
 * Counts a ping that was given up only when the one before was, too: the caller gives up after a second, as long as a
 * busy process may need to read the answer.
 */
function watchedPing(ping: ObjectStore['ping'], begin: Begin): ObjectStore['ping'] {
  let givenUp = 0
  return async (signal) => {
    const { good, fault, late } = begin('ping', undefined)
    try {
      await ping(signal)
      givenUp = 0
      good()
    } catch (error) {
      givenUp = signal?.aborted === true ? givenUp + 1 : 0
      if (givenUp === 1) late()
      else fault(error)
      throw error
    }
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
      part,
      good() {
        log.working(objectStoreName, part)
        ended('ok')
      },
      fault(error: unknown) {
        if (hasCode(error, 'STORE_002')) log.failing(objectStoreName, part, error)
        else if (hasCode(error, 'STORE_003')) log.working(objectStoreName, part)
        ended(resultOf(error))
      },
      late: () => ended('away'),
    }
  }
}

/** A store is silent after so many checks without an answer. One in which this process stood still is one, however long. */
const silence = { checks: 5, checkMs: 2_000 }
/** A request may take one check longer for so many bytes that it sends. */
const bytesPerCheck = 1_000_000

/** Notes requests that last, since those of a store that hangs fail only minutes later. */
function openSilenceWatch(log: StoreLog, { after }: Pick<Clock, 'after'>) {
  const open = new Set<{ part: object; left: number }>()
  const answered = new Set<object>()
  let isChecking = false
  const check = () => {
    const silent = new Set<object>()
    for (const request of open) {
      request.left = answered.has(request.part) ? Math.max(request.left, silence.checks) : request.left - 1
      if (request.left <= 0) silent.add(request.part)
    }
    answered.clear()
    const error = new Error('the object store does not answer')
    for (const part of silent) log.failing(objectStoreName, part, error)
    isChecking = open.size > 0
    if (isChecking) after(silence.checkMs, check)
  }
  return async <Answer>(part: object, work: Promise<Answer>, bytes: number): Promise<Answer> => {
    const request = { part, left: silence.checks + Math.ceil(bytes / bytesPerCheck) }
    open.add(request)
    if (!isChecking) after(silence.checkMs, check)
    isChecking = true
    try {
      return await work
    } finally {
      answered.add(part)
      open.delete(request)
    }
  }
}

function bytesOf(body: unknown): number {
  return typeof body === 'string' || body instanceof Uint8Array ? body.length : 0
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
