import { z } from 'zod'
import type { OperationId, RunId } from '#domain/ids.ts'
import { OperationStatus } from '#domain/operation.ts'
import { runKeys } from './keys.ts'
import type { LedgerStore } from './store.ts'

const sliceLength = 1_000

/** What the ledger's keys say of one operation, apart from the events. */
export type OperationAccount = {
  status: OperationStatus
  hasOutcome: boolean
  waitsFor: OperationId[]
  /** The last one it asked. */
  question: string | null
}

const Row = z.tuple([OperationStatus, z.string().nullable(), z.string().nullable()])

/** Every operation of the run, in plan order, with what it waits for as the dependents' lists say it. */
export async function readAccounts(store: LedgerStore, runId: RunId): Promise<Map<OperationId, OperationAccount>> {
  const keys = runKeys(store.namespace, runId)
  const accounts = new Map<OperationId, OperationAccount>()
  const waiters: [OperationId, readonly OperationId[]][] = []
  for (let first = 0; ; first += sliceLength) {
    const ids = await store.redis.zrange(keys.operations, String(first), String(first + sliceLength - 1))
    const rows = await Promise.all(
      ids.map((id) => store.redis.hmget(keys.operation(id), 'status', 'outcome', 'question')),
    )
    const afters = await Promise.all(ids.map((id) => store.redis.lrange(keys.after(id), 0, -1)))
    for (const [index, id] of ids.entries()) {
      const [status, outcome, question] = Row.parse(rows[index])
      accounts.set(id, { status, hasOutcome: outcome !== null, waitsFor: [], question })
      waiters.push([id, afters[index] ?? []])
    }
    if (ids.length < sliceLength) break
  }
  for (const [id, dependents] of waiters) {
    for (const dependent of dependents) accounts.get(dependent)?.waitsFor.push(id)
  }
  return accounts
}

/** The sets of operations something is still to be done for: empty once the run has ended. */
export const transientSets = ['ready', 'delayed', 'suspects', 'dispatched', 'leases', 'waiting'] as const
const accountSets = [...transientSets, 'ended'] as const
export type AccountSet = (typeof accountSets)[number]

/** The members of the sorted sets that mirror a status. */
export async function readSets(store: LedgerStore, runId: RunId): Promise<Map<AccountSet, ReadonlySet<string>>> {
  const keys = runKeys(store.namespace, runId)
  const sets = new Map<AccountSet, ReadonlySet<string>>()
  for (const name of accountSets) sets.set(name, await allMembers(store, keys[name]))
  return sets
}

async function allMembers(store: LedgerStore, key: string): Promise<Set<string>> {
  const members = new Set<string>()
  for (let first = 0; ; first += sliceLength) {
    const slice = await store.redis.zrange(key, String(first), String(first + sliceLength - 1))
    for (const member of slice) members.add(member)
    if (slice.length < sliceLength) return members
  }
}
