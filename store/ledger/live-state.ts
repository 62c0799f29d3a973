import { z } from 'zod'
import { OperationId, type RunId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import type { OperationStep } from '#domain/operation.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import type { OperationAccount, Violation } from './accounts.ts'
import { runKeys, type RunKeys } from './keys.ts'
import { unknownRun } from './script.ts'
import { type LedgerStore, redisNowMs } from './store.ts'

const doingKinds = ['prepare', 'slot', 'model', 'tool', 'proof'] as const

/**
 * What an attempt does now: it prepares, waits for a slot, waits for the model, runs the tool `what`, or is being proved. `afterTool`: its model
 * has been told what a tool returned. `sinceMs` is in milliseconds since the epoch.
 */
export type Doing = {
  kind: (typeof doingKinds)[number]
  what?: string
  turn: number
  afterTool: boolean
  sinceMs: number
}

const StoredDoing = z
  .strictObject({ k: z.enum(doingKinds), w: z.string().optional(), t: z.int(), a: z.boolean(), m: z.number() })
  .transform(({ k, w, t, a, m }): Doing => {
    return { kind: k, ...(w !== undefined && { what: w }), turn: t, afterTool: a, sinceMs: m }
  })

export function storedDoing({ kind, what, turn, afterTool, sinceMs }: Doing, redactor: Redactor): string {
  return JSON.stringify({ k: kind, w: what && redactor.text(what), t: turn, a: afterTool, m: Math.round(sinceMs) })
}

/** Tells the step that an operation is in from what it does. */
export function stepOf(doing: LiveOperation['doing']): OperationStep {
  switch (doing.kind) {
    case 'person':
      return 'deferred'
    case 'tool':
      return 'executing_tools'
    case 'proof':
      return 'synthesizing'
    case 'model':
      return doing.afterTool ? 'observing' : 'planning'
    case 'prepare':
    case 'slot': {
      if (doing.afterTool) return 'observing'
      const isAsked = doing.turn > 1 || (doing.turn === 1 && doing.kind === 'prepare')
      return isAsked ? 'planning' : 'receiving'
    }
  }
}

/** An operation that is running, or that waits for a person to answer `request`. */
export type LiveOperation = {
  operationId: OperationId
  bundle: string
  path: string
  qualifiedName: string
  nodeId: string
  attempt: number
  /** When the attempt began. */
  sinceMs: number
  doing: Doing | { kind: 'person'; request: string }
}

/** What moves in a run. `shown` are the first of those that `counts` counts. */
export type LiveState = {
  shown: LiveOperation[]
  counts: Record<Doing['kind'] | 'person', number>
  lastMinute: { operations: number; tokensIn: number; tokensOut: number }
}

const Ids = z.array(OperationId)

/** Reads what moves now, with the first `most` operations: what it costs grows only with those that move. RUN_001. */
export async function readLive(store: LedgerStore, runId: RunId, most: number): Promise<LiveState> {
  const { redis, namespace } = store
  const keys = runKeys(namespace, runId)
  const [schema, leases, running, waiting, asking, stored, pace, nowMs] = await Promise.all([
    redis.hget(keys.run, 'schema'),
    redis.zrange(keys.leases, 0, `${most - 1}`),
    redis.zcard(keys.leases),
    redis.zrange(keys.waiting, 0, `${most - 1}`),
    redis.zcard(keys.waiting),
    redis.hgetall(keys.doing),
    redis.hvals(keys.pace),
    redisNowMs(redis),
  ])
  if (schema === null) throw unknownRun(runId)
  const doing = new Map(Object.entries(stored).map(([id, text]) => [id, StoredDoing.parse(parseJson(text))]))
  const counts = { prepare: 0, slot: 0, model: 0, tool: 0, proof: 0, person: asking }
  for (const { kind } of doing.values()) counts[kind] += 1
  counts.prepare += Math.max(0, running - doing.size) // they have said nothing yet
  const ids = Ids.parse([...leases, ...waiting].slice(0, most))
  const shown = await Promise.all(ids.map((id) => readOperation(store, keys, id, doing.get(id))))
  return { shown: shown.filter((one) => one !== undefined), counts, lastMinute: lastMinute(pace, nowMs) }
}

const Row = z.tuple([
  z.enum(['running', 'waiting']),
  z.string(),
  z.string(),
  z.coerce.number(),
  z.coerce.number(),
  z.string().nullable(),
])
const Place = z.object({ path: z.string(), qualifiedName: z.string() })

/** Is undefined for one that has gone on meanwhile. */
async function readOperation(
  { redis }: LedgerStore,
  keys: RunKeys,
  operationId: OperationId,
  doing: Doing | undefined,
): Promise<LiveOperation | undefined> {
  const fields = ['status', 'bundle', 'nid', 'attempt', 'started', 'question'] as const
  const [row, node] = await Promise.all([
    redis.hmget(keys.operation(operationId), ...fields),
    redis.get(keys.node(operationId)),
  ])
  const read = Row.safeParse(row)
  if (!read.success || node === null) return undefined
  const [status, bundle, nodeId, attempt, sinceMs, request] = read.data
  const { path, qualifiedName } = Place.parse(parseJson(node))
  const now =
    status === 'waiting'
      ? ({ kind: 'person', request: request ?? '' } as const)
      : (doing ?? ({ kind: 'prepare', turn: 0, afterTool: false, sinceMs } as const))
  return { operationId, bundle, path, qualifiedName, nodeId, attempt, sinceMs, doing: now }
}

/** Finds what is noted of attempts that no longer run (invariant 2). */
export async function strayDoing(
  { redis, namespace }: LedgerStore,
  runId: RunId,
  operations: ReadonlyMap<string, Pick<OperationAccount, 'status'>>,
): Promise<Violation[]> {
  const noted = await redis.hkeys(runKeys(namespace, runId).doing)
  const stray = noted.filter((id) => operations.get(id)?.status !== 'running')
  return stray.map((id) => ({ invariant: 2, message: `operation ${id} does not run, and it is noted what it does` }))
}

const Figures = z.tuple([z.coerce.number(), z.coerce.number(), z.coerce.number(), z.coerce.number()])
const minuteMs = 60_000

/** Adds up the six or seven tens of seconds that have begun within the last minute. */
function lastMinute(pace: readonly string[], nowMs: number): LiveState['lastMinute'] {
  const sum = { operations: 0, tokensIn: 0, tokensOut: 0 }
  for (const text of pace) {
    const [begun, operations, tokensIn, tokensOut] = Figures.parse(text.split(' '))
    if (begun <= nowMs - minuteMs) continue
    sum.operations += operations
    sum.tokensIn += tokensIn
    sum.tokensOut += tokensOut
  }
  return sum
}
