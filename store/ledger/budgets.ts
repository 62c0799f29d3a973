import { z } from 'zod'
import type { EventOrigin } from '#domain/event.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { resultKeys, runKeys } from './keys.ts'
import { expectKnownRun, plainScript, runScript } from './script.ts'
import { type LedgerStore, redisNowMs } from './store.ts'
import { dayOf, usageKeptS } from './usage.ts'

const setScript = runScript('set-budget')
const noteScript = runScript('note-budget')
const countScript = plainScript('count-spent')

const dayMs = 24 * 3600 * 1000

/** `budget.set`; null: any number of tokens. `ended`: the run has ended or is being stopped. RUN_001. */
export async function setBudget(
  store: LedgerStore,
  runId: RunId,
  { tokens, origin }: { tokens: number | null; origin: EventOrigin },
): Promise<'set' | 'ended'> {
  const { scripted } = runKeys(store.namespace, runId)
  const answer = await setScript(store.redis, scripted, [tokens ?? '', origin.kind, origin.id])
  return z.enum(['set', 'ended']).parse(expectKnownRun(runId, answer))
}

export type UsedDay = { limit: number; used: number; resetsAt: number }

/** `budget.reached`, `budget.renewed`: until then operations with a model are held. RUN_001 for an unknown run. */
export async function noteProjectBudget(store: LedgerStore, runId: RunId, used: UsedDay | undefined): Promise<void> {
  const { kind, id } = store.origin
  const { scripted } = runKeys(store.namespace, runId)
  const text = used === undefined ? '' : JSON.stringify({ ...used, resets_at: used.resetsAt, resetsAt: undefined })
  expectKnownRun(runId, await noteScript(store.redis, scripted, [text, kind, id]))
}

export type SpentDay = { used: number; limit: number | null; resetsAt: number }

const CountReply = z.tuple([z.number(), z.number().nullable()])

/** Adds the tokens used since the last call to the project's day, that of `nowMs` (UTC); two callers at once add none twice. */
export async function countSpent(
  { redis, namespace }: LedgerStore,
  { runId, projectId, tokens }: Pick<Run, 'runId' | 'projectId' | 'tokens'>,
  nowMs: number,
): Promise<SpentDay> {
  const { counted, spentOf, budgets } = resultKeys(namespace)
  const keys = [counted, spentOf(projectId, dayOf(nowMs)), budgets]
  const answer = await countScript(redis, keys, [runId, projectId, tokens, usageKeptS])
  const [used, limit] = CountReply.parse(answer)
  return { used, limit, resetsAt: endOfDay(nowMs) }
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
