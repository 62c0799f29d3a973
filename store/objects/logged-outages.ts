import { hasCode } from '#domain/error.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { repeatEvery } from '#platform/clock.ts'
import { objectStoreName, type StoreLog } from '#platform/log.ts'
import type { Metrics } from '#platform/metrics/open-metrics.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * Logs the outages of `objects`: STORE_002 begins one, answered requests end it, each kind of request on each kind of object for
 * itself: a store may refuse every write while it answers reads. `measured` is called at the end of each request.
 */
export function loggedOutages(objects: ObjectStore, log: StoreLog, metrics?: Pick<Metrics, 'observe'>): ObjectStore {
  const begin = openRequestNotes(log, metrics)
  const watched = (name: string) => {
    return <Args extends unknown[], Answer>(request: (...args: Args) => Promise<Answer>) =>
      (...args: Args): Promise<Answer> =>
        noted(begin(name, args[0]), request(...args))
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
    putStream: put(objects.putStream),
    get: get(objects.get),
    getRange: get(objects.getRange),
    stat: get(objects.stat),
    exists: get(objects.exists),
    getStream: watchedStream('get', objects.getStream),
    list: watchedStream('list', objects.list),
    delete: remove(objects.delete),
    deleteMany: remove(objects.deleteMany),
    ping: watched('ping')(objects.ping),
  }
}

const watchMs = 5_000

/** Pings a store whose outages are logged, so that the log has them before a request fails, and while there is none. Returns a stop. */
export function watchStore(objects: Pick<ObjectStore, 'ping'>): () => Promise<void> {
  return repeatEvery(watchMs, () => objects.ping())
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

function openRequestNotes(log: StoreLog, metrics: Pick<Metrics, 'observe'> | undefined) {
  const parts = new Map<string, object>()
  return (name: string, key: unknown) => {
    const part = getOrMake(parts, `${name} ${kindOf(key)}`, () => ({}))
    const start = performance.now()
    const ended = (result: RequestResult) =>
      metrics?.observe('remora_store_request_seconds', { request: name, result }, (performance.now() - start) / 1000)
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

/** `fault`: the request could not be made, such as an upload over its limit. A stream lasts until it is read. */
type RequestResult = 'ok' | 'missing' | 'away' | 'fault'

function resultOf(error: unknown): RequestResult {
  if (hasCode(error, 'STORE_002')) return 'away'
  return hasCode(error, 'STORE_003') ? 'missing' : 'fault'
}

function kindOf(key: unknown): string {
  return (typeof key === 'string' ? /^projects\/[^/]+\/(?:runs\/[^/]+\/)?([^/]+)/.exec(key)?.[1] : undefined) ?? 'other'
}
