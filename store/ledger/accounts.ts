import { z } from 'zod'
import type { OperationId, ProjectId, RunId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { isEndedOperation, OperationStatus, RepeatedWork } from '#domain/operation.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { indexKeys, resultKeys, runKeys } from './keys.ts'
import { readFailureCounters } from './read-operations.ts'
import { pairsOf } from './script.ts'
import type { LedgerStore } from './store.ts'

/** The invariants of a run's state. The ledger alone can check 1 to 6; docs/guide/failures.md lists them. */
export type Invariant = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8

export type Violation = { invariant: Invariant; message: string }

const sliceLength = 1_000

export type OperationAccount = {
  status: OperationStatus
  hasOutcome: boolean
  findings: number
  leavesWork: boolean
  waitsFor: Dependency[]
  question: string | null
  generation: number
  itemId: string | null
  repeats: RepeatedWork | null
  supersededBy: string | null
  /** Has said something that is not over. */
  isSaying: boolean
  reserved: number
}

/** `any` says that it is enough that it has ended, well or not. */
export type Dependency = { id: OperationId; any: boolean }

const text = z.string().nullable()
const Counted = z.object({ findings: z.int().default(0), leavesWork: z.boolean().default(false) })
const rowFields = ['status', 'outcome', 'question', 'repeats', 'superseded', 'gen', 'item', 'reserved'] as const
const Row = z.tuple([OperationStatus, text, text, text, text, text, text, text])

/** Every operation of the run, in plan order; `waitsFor` is taken from the lists of dependents. */
export async function readAccounts(store: LedgerStore, runId: RunId): Promise<Map<OperationId, OperationAccount>> {
  const keys = runKeys(store.namespace, runId)
  const accounts = new Map<OperationId, OperationAccount>()
  const waiters: [OperationId, readonly OperationId[]][] = []
  for await (const ids of slicesOf(store, keys.operations)) {
    const rows = await Promise.all(ids.map((id) => store.redis.hmget(keys.operation(id), ...rowFields)))
    const afters = await Promise.all(ids.map((id) => store.redis.lrange(keys.after(id), 0, -1)))
    const saying = await Promise.all(ids.map((id) => store.redis.exists(keys.talk(id))))
    for (const [index, id] of ids.entries()) {
      const isSaying = saying[index] === 1
      const [status, outcome, question, repeated, supersededBy, gen, itemId, tokens] = Row.parse(rows[index])
      const repeats = RepeatedWork.nullable().parse(parseJson(repeated ?? 'null'))
      const facts = { hasOutcome: outcome !== null, ...Counted.parse(parseJson(outcome ?? '{}')) }
      const generation = Number(gen ?? 1)
      const now = { status, ...facts, waitsFor: [], question, isSaying, reserved: Number(tokens ?? 0) }
      accounts.set(id, { ...now, generation, itemId, repeats, supersededBy })
      waiters.push([id, afters[index] ?? []])
    }
  }
  for (const [id, dependents] of waiters) {
    for (const entry of dependents) {
      const any = entry.endsWith('?')
      accounts.get(any ? entry.slice(0, -1) : entry)?.waitsFor.push({ id, any })
    }
  }
  return accounts
}

const transientSets = ['ready', 'delayed', 'suspects', 'held', 'dispatched', 'leases', 'waiting'] as const
const accountSets = [...transientSets, 'ended'] as const
type AccountSet = (typeof accountSets)[number]

export async function readSets(store: LedgerStore, runId: RunId): Promise<Map<AccountSet, ReadonlySet<string>>> {
  const keys = runKeys(store.namespace, runId)
  const sets = new Map<AccountSet, ReadonlySet<string>>()
  for (const name of accountSets) {
    const slices = await Array.fromAsync(slicesOf(store, keys[name]))
    sets.set(name, new Set(slices.flat()))
  }
  return sets
}

/** Members of the indexes of failed and blocked operations that have another status (invariant 2). */
export async function compareIndexes(
  store: LedgerStore,
  runId: RunId,
  accounts: ReadonlyMap<string, OperationAccount>,
): Promise<Violation[]> {
  const faults: string[] = []
  for (const name of ['failed', 'blocked'] as const) {
    const slices = await Array.fromAsync(slicesOf(store, runKeys(store.namespace, runId)[name]))
    for (const id of slices.flat()) {
      const status = accounts.get(id)?.status ?? 'not planned'
      if (status !== name) faults.push(`operation ${id} is ${status} and in the index of ${name} ones`)
      if (accounts.get(id)?.supersededBy) faults.push(`operation ${id} is superseded and in the index of ${name} ones`)
    }
  }
  return faults.map((message) => ({ invariant: 2, message }))
}

/** Finds where the index of operations that reported findings, and the run's count of these, differ from the outcomes (invariant 2). */
export async function compareFindings(
  store: LedgerStore,
  { runId, findings }: Pick<Run, 'runId' | 'findings'>,
  accounts: ReadonlyMap<string, OperationAccount>,
): Promise<Violation[]> {
  const slices = await Array.fromAsync(slicesOf(store, runKeys(store.namespace, runId).reported))
  const indexed = new Set(slices.flat())
  const reporting = new Map(
    [...accounts].filter(([, account]) => account.findings > 0 && account.supersededBy === null),
  )
  const total = [...reporting.values()].reduce((sum, account) => sum + account.findings, 0)
  const odd = [...indexed]
    .filter((id) => !reporting.has(id))
    .concat([...reporting.keys()].filter((id) => !indexed.has(id)))
  const faults = odd.map(
    (id) => `operation ${id} is ${indexed.has(id) ? '' : 'not '}in the index of those with findings`,
  )
  if (findings !== total) faults.push(`${findings} findings are counted, the outcomes have ${total}`)
  return faults.map((message) => ({ invariant: 2, message }))
}

/** Finds where the counters of failures by code differ from the events (invariant 2). */
export async function compareFailures(
  store: LedgerStore,
  runId: RunId,
  accounts: ReadonlyMap<OperationId, OperationAccount>,
  failureCodeOf: (id: OperationId) => string | undefined,
): Promise<Violation[]> {
  const current = [...accounts].flatMap(([id, { supersededBy }]) => (supersededBy === null ? [id] : []))
  const byCode = Map.groupBy(current, failureCodeOf)
  const faults: string[] = []
  const counters = await readFailureCounters(store, runId)
  for (const code of byCode.keys()) {
    const isCounted = code === undefined || counters.some((counter) => counter.code === code)
    if (!isCounted) faults.push(`no failure is counted with ${code || 'no code'}, ${byCode.get(code)?.length ?? 0} are`)
  }
  for (const { code, count, first } of counters) {
    const ended = byCode.get(code) ?? []
    const [name, firstCode = 'none'] = [code || 'no code', failureCodeOf(first)]
    if (count !== ended.length) faults.push(`${count} failures are counted with ${name}, ${ended.length} are`)
    if (firstCode !== code) faults.push(`operation ${first} is the first failure with ${name}, its own is ${firstCode}`)
  }
  return faults.map((message) => ({ invariant: 2, message }))
}

async function* slicesOf({ redis }: LedgerStore, key: string): AsyncGenerator<string[]> {
  for (let first = 0; ; first += sliceLength) {
    const slice = await redis.zrange(key, String(first), String(first + sliceLength - 1))
    yield slice
    if (slice.length < sliceLength) return
  }
}

/** Finds where the sets and the statuses differ (invariant 2). What an ended run left in transient sets is invariant 8. */
export function compareSets(
  run: Pick<Run, 'status'>,
  accounts: ReadonlyMap<string, OperationAccount>,
  sets: ReadonlyMap<AccountSet, ReadonlySet<string>>,
): Violation[] {
  const ignored: readonly AccountSet[] = isEnded(run.status) ? transientSets : []
  const names = [...sets.keys()].filter((name) => !ignored.includes(name))
  const faults: string[] = []
  for (const [id, { status }] of accounts) {
    const due = setsOf(status)
    const held = names.filter((name) => sets.get(name)?.has(id))
    const wrong = held.filter((name) => !due.includes(name))
    if (wrong.length > 0) faults.push(`operation ${id} is ${status} and in the set ${wrong.join(' and ')}`)
    const right = held.length - wrong.length
    if (right > 1) faults.push(`operation ${id} is ${status} and in more than one of the sets ${due.join(', ')}`)
    const isDue = due.some((name) => names.includes(name))
    if (isDue && right === 0) faults.push(`operation ${id} is ${status} and not in the set ${due.join(' or ')}`)
  }
  for (const name of names) {
    const strangers = [...(sets.get(name) ?? [])].filter((id) => !accounts.has(id))
    for (const id of strangers) faults.push(`the set ${name} has ${id}, which was never planned`)
  }
  return faults.map((message) => ({ invariant: 2, message }))
}

function setsOf(status: OperationStatus): readonly AccountSet[] {
  if (status === 'ready') return ['ready', 'delayed', 'suspects', 'held']
  if (status === 'dispatched') return ['dispatched']
  if (status === 'running') return ['leases']
  if (status === 'waiting') return ['waiting']
  return isEndedOperation(status) ? ['ended'] : []
}

/** Lists what the ledger should not hold of an ended run any more, one phrase each (invariant 8). */
export async function leftovers(store: LedgerStore, { projectId, runId }: { projectId: ProjectId; runId: RunId }) {
  const { redis, namespace } = store
  const keys = runKeys(namespace, runId)
  const left: string[] = []
  for (const name of transientSets) {
    const [count, [first]] = await Promise.all([redis.zcard(keys[name]), redis.zrange(keys[name], '0', '0')])
    if (count > 0) left.push(`${count} in the set ${name}, ${first} first`)
  }
  const [results, cascade, active] = await Promise.all([
    redis.xlen(keys.outbox),
    redis.llen(keys.cascade),
    redis.zscore(indexKeys(namespace).active, `${projectId}/${runId}`),
  ])
  if (results > 0) left.push(`${results} in the outbox, not published to the results stream`)
  if (cascade > 0) left.push(`${cascade} ended operations whose dependents have not been notified`)
  if (active !== null) left.push('the run in the index of active runs')
  return left
}

const maxReads = 5
/** Entries are named by Redis' clock, which a failover may set back. */
const clockMarginMs = 60_000

/** `complete` is false when the stream was trimmed since the run was accepted: then a missing entry proves nothing. */
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

const ResultEntry = z.tuple([z.string(), z.array(z.string())])

async function* entriesOf(store: LedgerStore, key: string, start: string): AsyncGenerator<Map<string, string>> {
  let from = start
  for (;;) {
    const entries = z.array(ResultEntry).parse(await store.redis.xrange(key, from, '+', 'COUNT', sliceLength))
    for (const [, fields] of entries) yield new Map(pairsOf(fields))
    const last = entries.at(-1)
    if (last === undefined || entries.length < sliceLength) return
    from = `(${last[0]}`
  }
}

/** A stream is trimmed from its start: so it holds an entry older than `sinceMs`, or nothing was ever trimmed. */
async function holdsAllSince(store: LedgerStore, key: string, sinceMs: number): Promise<boolean> {
  const [oldest] = z.array(ResultEntry).parse(await store.redis.xrange(key, '-', '+', 'COUNT', 1))
  if (oldest !== undefined && Number.parseInt(oldest[0], 10) < sinceMs) return true
  return (await store.redis.xlen(key)) === (await entriesAdded(store, key))
}

async function entriesAdded(store: LedgerStore, key: string): Promise<number> {
  if ((await store.redis.exists(key)) === 0) return 0
  const info = z.array(z.unknown()).parse(await store.redis.xinfo('STREAM', key))
  return z.int().parse(info[info.indexOf('entries-added') + 1])
}
