import { z } from 'zod'
import type { Run } from '#domain/run.ts'
import { resultKeys, runKeys } from './keys.ts'
import type { LedgerStore } from './store.ts'

const sliceLength = 1_000
/** A run that is being relayed is read again this often, until nothing was published while it was read. */
const maxReads = 5
/** Entries are named by Redis' clock, which a failover may set back. */
const clockMarginMs = 60_000

/**
 * How often each operation of a run is in the results: published, or waiting in the outbox to be. `complete` is false
 * when the stream was trimmed since the run was accepted, so that a missing entry proves nothing.
 */
export type ResultTimes = { times: ReadonlyMap<string, number>; complete: boolean }

export async function readResults(store: LedgerStore, run: Run): Promise<ResultTimes> {
  for (let read = 1; ; read++) {
    const before = await lastPublished(store, run)
    const results = await countResults(store, run, before)
    if (read === maxReads || (await lastPublished(store, run)) === before) return results
  }
}

async function lastPublished(store: LedgerStore, { runId }: Run): Promise<number> {
  return Number((await store.redis.hget(resultKeys(store.namespace).published, runId)) ?? 0)
}

async function countResults(store: LedgerStore, run: Run, published: number): Promise<ResultTimes> {
  const { results } = resultKeys(store.namespace)
  const times = new Map<string, number>()
  const count = (id: string) => void times.set(id, (times.get(id) ?? 0) + 1)
  const first = Math.max(0, run.acceptedAt - clockMarginMs)
  for await (const fields of entriesOf(store, results, `${first}-0`)) {
    if (fields.get('run_id') === run.runId) count(fields.get('operation_id') ?? '')
  }
  for await (const fields of entriesOf(store, runKeys(store.namespace, run.runId).outbox, `(${published}-0`)) {
    count(fields.get('o') ?? '')
  }
  return { times, complete: await holdsAllSince(store, results, first) }
}

const Entry = z.tuple([z.string(), z.array(z.string())])

async function* entriesOf(store: LedgerStore, key: string, start: string): AsyncGenerator<Map<string, string>> {
  let from = start
  for (;;) {
    const entries = z.array(Entry).parse(await store.redis.xrange(key, from, '+', 'COUNT', sliceLength))
    for (const [, fields] of entries) yield new Map(pairs(fields))
    const last = entries.at(-1)
    if (last === undefined || entries.length < sliceLength) return
    from = `(${last[0]}`
  }
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, index): [string, string][] => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : []))
}

/** A stream is trimmed from its beginning: what is older than `sinceMs` is there, or nothing was ever taken away. */
async function holdsAllSince(store: LedgerStore, key: string, sinceMs: number): Promise<boolean> {
  const [oldest] = z.array(Entry).parse(await store.redis.xrange(key, '-', '+', 'COUNT', 1))
  if (oldest !== undefined && Number.parseInt(oldest[0], 10) < sinceMs) return true
  return (await store.redis.xlen(key)) === (await entriesAdded(store, key))
}

async function entriesAdded(store: LedgerStore, key: string): Promise<number> {
  if ((await store.redis.exists(key)) === 0) return 0
  const info = z.array(z.unknown()).parse(await store.redis.xinfo('STREAM', key))
  return z.int().parse(info[info.indexOf('entries-added') + 1])
}
