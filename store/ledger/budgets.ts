import { z } from 'zod'
import type { EventOrigin } from '#domain/event.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { resultKeys, runKeys } from './keys.ts'
import { plainScript, runCommand } from './script.ts'
import { type LedgerStore, redisNowMs } from './store.ts'
import { dayOf, usageKeptS } from './usage.ts'

const writeBudget = runCommand('set-budget', z.enum(['set', 'ended']))
const noteDay = runCommand('note-budget', z.string())
const reserveTokens = runCommand('reserve', z.enum(['reserved', 'full', 'lost']))
const countScript = plainScript('count-spent')

const dayMs = 24 * 3600 * 1000

/** `budget.set`; null: any number of tokens. `ended`: the run has ended or is being stopped. RUN_001. */
export async function setBudget(
  store: LedgerStore,
  runId: RunId,
  { tokens, origin }: { tokens: number | null; origin: EventOrigin },
): Promise<'set' | 'ended'> {
  return writeBudget(store, runId, [tokens ?? '', origin.kind, origin.id])
}

/** Names who reserves besides operations: the conductor's step, the watcher or who answers an ask, each by the token with which it holds that now. */
export type Reserver = { by: 'agenda' | 'watch' | 'asks'; token: string }

const leaseOf = { agenda: undefined, watch: 'watching', asks: 'answering' } as const

/**
 * Reserves so many tokens in place of what the reserver had reserved, until its commit. `full`: they do not fit beside what others
 * have reserved, and nothing is. `lost`: it is somebody else's by now. `besideDay`: it holds what it needs of the day itself (`holdForAsk`). RUN_001.
 */
export async function reserve(
  store: LedgerStore,
  runId: RunId,
  { of: { by, token }, tokens, besideDay = false }: { of: Reserver; tokens: number; besideDay?: boolean },
) {
  const keys = runKeys(store.namespace, runId)
  const lease = leaseOf[by]
  const holders = [keys[by], ...(lease === undefined ? [] : [keys[lease]])]
  return reserveTokens(store, runId, [token, tokens, besideDay ? 1 : 0], holders)
}

/** Returns what the conductor's step, the watch and the ask have reserved. */
export async function readReserved({ redis, namespace }: LedgerStore, runId: RunId): Promise<number[]> {
  const { agenda, watch, asks } = runKeys(namespace, runId)
  return (await Promise.all([agenda, watch, asks].map((holder) => redis.hget(holder, 'reserved')))).map(Number)
}

/** `needs`: the day is not used up, and has too little left for the least that waits. */
export type UsedDay = { limit: number; used: number; needs?: number | undefined; resetsAt: number }

/** All that a run was granted of its project's days. It keeps `keep` tokens of what it neither uses nor has reserved. */
export type GrantedDay = { granted: number; keep: number }

/**
 * `budget.reached`, `budget.renewed`: until then operations with a model are held. Without `day` the project has no budget. RUN_001 for
 * an unknown run.
 */
export async function noteProjectBudget(
  store: LedgerStore,
  runId: RunId,
  used: UsedDay | undefined,
  day?: GrantedDay,
): Promise<void> {
  const { kind, id } = store.origin
  const text = used === undefined ? '' : JSON.stringify({ ...used, resets_at: used.resetsAt, resetsAt: undefined })
  await noteDay(store, runId, [text, kind, id, day?.granted ?? '', day?.keep ?? 0])
}

/** `granted`: to the run, in all. `others`: what the project's other runs hold of the day. */
export type SpentDay = { used: number; limit: number | null; granted: number; others: number; resetsAt: number }

/** `sharers`: how many runs want a part of the day; 0 for a run that wants none. `least`: less is of no use to it. */
export type WantedDay = { nowMs: number; sharers?: number; least?: number }

const CountReply = z.tuple([z.number(), z.number().nullable(), z.number(), z.number()])

/**
 * Adds the tokens used since the last call to the project's day, that of `nowMs` (UTC); two callers at once add none twice. Grants the run
 * its share of what the day has left: a worker reserves in the run's slot of Redis, and the day is in another. What is granted is noted
 * here first, and then in the run's slot (`noteProjectBudget`); what a run gives back, there first. Who is killed between the two leaves
 * a run with less than it may have until the next round, and never with more.
 */
export async function countSpent(
  { redis, namespace }: LedgerStore,
  { runId, projectId, tokens, status, day }: Pick<Run, 'runId' | 'projectId' | 'tokens' | 'status' | 'day'>,
  { nowMs, sharers = 0, least = 1 }: WantedDay,
): Promise<SpentDay> {
  const { counted, spentOf, budgets, grantsOf } = resultKeys(namespace)
  const keys = [counted, spentOf(projectId, dayOf(nowMs)), budgets, grantsOf(projectId)]
  const wants = isEnded(status) ? '' : sharers
  const args = [runId, projectId, tokens, usageKeptS, day.returned, wants, least]
  const [used, limit, granted, others] = CountReply.parse(await countScript(redis, keys, args))
  return { used, limit, granted, others, resetsAt: endOfDay(nowMs) }
}

/**
 * Holds so many tokens of the project's day for the answer to an ask, besides what its run was granted; 0 gives them back. `later`: other runs
 * hold them. `full`: the day has too few.
 */
export async function holdForAsk(
  { redis, namespace }: LedgerStore,
  { runId, projectId }: Pick<Run, 'runId' | 'projectId'>,
  { nowMs, tokens }: { nowMs: number; tokens: number },
): Promise<'held' | 'later' | 'full'> {
  const { counted, spentOf, budgets, grantsOf } = resultKeys(namespace)
  const keys = [counted, spentOf(projectId, dayOf(nowMs)), budgets, grantsOf(projectId)]
  const sharers = tokens === 0 ? '' : Number.MAX_SAFE_INTEGER // its part is what it needs
  const args = [`${runId} ask`, projectId, 0, usageKeptS, 0, sharers, tokens]
  const [used, limit, granted] = CountReply.parse(await countScript(redis, keys, args))
  if (limit === null || granted >= tokens) return 'held'
  return limit - used >= tokens ? 'later' : 'full'
}

export const budgetSetters = ['operator', 'own'] as const
export type BudgetSetter = (typeof budgetSetters)[number]

/** Sets how many tokens the project may use a day; null: any number. It counts from the next round of the dispatcher on. */
export async function setProjectBudget(
  { redis, namespace }: LedgerStore,
  projectId: ProjectId,
  { by, tokens }: { by: BudgetSetter; tokens: number | null },
): Promise<void> {
  const { budgets } = resultKeys(namespace)
  const field = `${projectId} ${by}`
  await (tokens === null ? redis.hdel(budgets, field) : redis.hset(budgets, field, tokens))
}

export async function readProjectBudget({ redis, namespace }: LedgerStore, projectId: ProjectId) {
  const { spentOf, budgets } = resultKeys(namespace)
  const now = await redisNowMs(redis)
  const fields = budgetSetters.map((by) => `${projectId} ${by}`)
  const [stored, used] = await Promise.all([redis.hmget(budgets, ...fields), redis.get(spentOf(projectId, dayOf(now)))])
  const [operator = null, own = null] = stored.map((text) => (text === null ? null : Number(text)))
  const given = [operator, own].filter((limit) => limit !== null)
  const limit = given.length === 0 ? null : Math.min(...given)
  return { operator, own, limit, used: Number(used ?? 0), resetsAt: endOfDay(now) }
}

function endOfDay(nowMs: number): number {
  return (Math.floor(nowMs / dayMs) + 1) * dayMs
}
