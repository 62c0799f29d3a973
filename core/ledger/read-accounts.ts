import { z } from 'zod'
import type { OperationId, RunId } from '#domain/ids.ts'
import { OperationStatus } from '#domain/operation.ts'
import { resultKeys, runKeys } from './keys.ts'
import type { LedgerStore } from './store.ts'

const sliceLength = 1_000

/** What the ledger's keys say of one operation, apart from the events. */
export type OperationAccount = { status: OperationStatus; hasOutcome: boolean; waitsFor: OperationId[] }

const Row = z.tuple([OperationStatus, z.string().nullable()])

/** Every operation of the run, in plan order, with what it waits for as the dependents' lists say it. */
export async function readAccounts(store: LedgerStore, runId: RunId): Promise<Map<OperationId, OperationAccount>> {
  const keys = runKeys(store.namespace, runId)
  const accounts = new Map<OperationId, OperationAccount>()
  const waiters: [OperationId, readonly OperationId[]][] = []
  for (let first = 0; ; first += sliceLength) {
    const ids = await store.redis.zrange(keys.operations, String(first), String(first + sliceLength - 1))
    const rows = await Promise.all(ids.map((id) => store.redis.hmget(keys.operation(id), 'status', 'outcome')))
    const afters = await Promise.all(ids.map((id) => store.redis.lrange(keys.after(id), 0, -1)))
    for (const [index, id] of ids.entries()) {
      const [status, outcome] = Row.parse(rows[index])
      accounts.set(id, { status, hasOutcome: outcome !== null, waitsFor: [] })
      waiters.push([id, afters[index] ?? []])
    }
    if (ids.length < sliceLength) break
  }
  for (const [id, dependents] of waiters) {
    for (const dependent of dependents) accounts.get(dependent)?.waitsFor.push(id)
  }
  return accounts
}

/** The members of the sorted sets that mirror a status. */
export async function readSets(
  store: LedgerStore,
  runId: RunId,
): Promise<Record<'ready' | 'leases' | 'ended', string[]>> {
  const { ready, leases, ended } = runKeys(store.namespace, runId)
  return {
    ready: await allMembers(store, ready),
    leases: await allMembers(store, leases),
    ended: await allMembers(store, ended),
  }
}

async function allMembers(store: LedgerStore, key: string): Promise<string[]> {
  const members: string[] = []
  for (;;) {
    const first = members.length
    const slice = await store.redis.zrange(key, String(first), String(first + sliceLength - 1))
    members.push(...slice)
    if (slice.length < sliceLength) return members
  }
}

const ResultEntry = z.tuple([z.string(), z.array(z.string())])

/**
 * How often each operation of the run is in the results: published, or waiting in the outbox to be. `complete` is false
 * when the stream was trimmed, so that a missing entry proves nothing.
 */
export async function readResults(
  store: LedgerStore,
  runId: RunId,
): Promise<{ times: ReadonlyMap<string, number>; complete: boolean }> {
  const { results, published } = resultKeys(store.namespace)
  const times = new Map<string, number>()
  const count = (id: string) => void times.set(id, (times.get(id) ?? 0) + 1)
  let seen = 0
  for await (const fields of entriesOf(store, results)) {
    seen += 1
    if (fields.get('run_id') === runId) count(fields.get('operation_id') ?? '')
  }
  const lastPublished = Number((await store.redis.hget(published, runId)) ?? 0)
  for await (const fields of entriesOf(store, runKeys(store.namespace, runId).outbox, `(${lastPublished}-0`)) {
    count(fields.get('o') ?? '')
  }
  return { times, complete: seen === (await entriesAdded(store, results)) }
}

async function* entriesOf(store: LedgerStore, key: string, start = '-'): AsyncGenerator<Map<string, string>> {
  let from = start
  for (;;) {
    const entries = z.array(ResultEntry).parse(await store.redis.xrange(key, from, '+', 'COUNT', sliceLength))
    for (const [, fields] of entries) yield new Map(pairs(fields))
    const last = entries.at(-1)
    if (last === undefined) return
    from = `(${last[0]}`
  }
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, index): [string, string][] => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : []))
}

async function entriesAdded(store: LedgerStore, key: string): Promise<number> {
  if ((await store.redis.exists(key)) === 0) return 0
  const info = z.array(z.unknown()).parse(await store.redis.xinfo('STREAM', key))
  return z.int().parse(info[info.indexOf('entries-added') + 1])
}
