import { z } from 'zod'
import type { ProjectId, RunId } from '#domain/ids.ts'
import { operationStatuses } from '#domain/operation.ts'
import { CompositionProgress, isEnded, PatchKind, Run, runSchema, RunStatus, UsedBudget } from '#domain/run.ts'
import { parseJson } from '#domain/json.ts'
import { undefinedOn } from '#domain/error.ts'
import type { PartCheck } from '#platform/readiness.ts'
import { indexKeys, runKeys, runOfMember } from './keys.ts'
import { readPublication } from './publications.ts'
import { foundFields } from './run-commands.ts'
import { newerRun, pairsOf, unknownRun } from './script.ts'
import type { LedgerStore } from './store.ts'

/** Fields that are read as they are stored, null when they are missing: the name in `Run`, and the stored one. */
const plainFields = {
  projectId: 'project',
  status: 'status',
  phase: 'phase',
  uploadKey: 'upload',
  planHash: 'plan_hash',
  ...foundFields,
} as const
const patches = PatchKind.options.map((of) => [of, `patch:${of}`] as const)
const number = z.coerce.number().default(0)
const Noted = z.object({
  limit: number,
  used: number,
  needs: z.number().nullable().default(null),
  since: number,
  resets_at: z.number().nullable().default(null),
  untold: z.boolean().default(false),
})

/** The run's state now. RUN_001 when there is no such run, RUN_005 when a newer version made it. */
export async function getRun(store: LedgerStore, runId: RunId): Promise<Run> {
  const keys = runKeys(store.namespace, runId)
  const [fields, kept] = await Promise.all([store.redis.hgetall(keys.run), store.redis.get(keys.publication)])
  const stored = (name: string) => fields[name]
  const schema = stored('schema')
  if (schema === undefined) throw unknownRun(runId)
  if (Number(schema) > runSchema) throw newerRun(runId)
  const endedAt = stored('ended')
  const { publication, isSigned } = readPublication(store, runId, kept)
  const texts = [runId, stored('project') ?? '', stored('request') ?? '']
  const isAsked = store.signer?.isSigned(stored('signature'), 'run', ...texts) ?? true
  return Run.parse({
    ...Object.fromEntries(Object.entries(plainFields).map(([name, field]) => [name, stored(field) ?? null])),
    runId,
    schema: Number(schema),
    request: JSON.parse(stored('request') ?? 'null'),
    generation: Number(stored('generation') ?? 1),
    ...reopeningOf(stored),
    errorPolicy: stored('policy'),
    isPlanned: stored('planned') === '1',
    conductor: conductorOf(stored),
    bundleHashes: JSON.parse(stored('bundles') ?? 'null'),
    agentBundles:
      stored('agent_bundles')
        ?.split(' ')
        .filter((name) => name !== '') ?? null,
    seq: number.parse(stored('seq')),
    nodes: number.parse(stored('nodes')),
    files: number.parse(stored('files')),
    away: JSON.parse(stored('away') ?? '[]'),
    budget: stored('budget') === undefined ? null : Number(stored('budget')),
    ...tokensOf(stored),
    findings: number.parse(stored('findings')),
    usedBudgets: usedBudgetsOf(stored),
    stop: stopOf(stored),
    composing: composingOf(stored),
    environment: JSON.parse(stored('environment') ?? 'null'),
    publication,
    unsigned: [...(isAsked ? [] : ['request']), ...(isSigned ? [] : ['publication'])],
    patches: patchesOf(stored),
    parts: JSON.parse(stored('parts') ?? '[]'),
    traceparent: stored('traceparent') || null,
    acceptedAt: number.parse(stored('accepted')),
    endedAt: endedAt === undefined ? null : Number(endedAt),
    deferred: number.parse(stored('deferred')),
    counts: Object.fromEntries(operationStatuses.map((status) => [status, number.parse(stored(`n:${status}`))])),
  })
}

function tokensOf(stored: (name: string) => string | undefined) {
  const [tokensIn, tokensOut] = [number.parse(stored('tokens_in')), number.parse(stored('tokens_out'))]
  const tokensBesides = number.parse(stored('tokens_besides'))
  return { tokensIn, tokensOut, tokens: tokensIn + tokensOut, tokensBesides, ...reservedOf(stored) }
}

function reservedOf(stored: (name: string) => string | undefined) {
  const orNull = (name: string) =>
    z.coerce
      .number()
      .nullable()
      .parse(stored(name) ?? null)
  const [reserved, returned] = [number.parse(stored('reserved')), number.parse(stored('returned'))]
  return { reserved, bound: orNull('bound'), lacking: orNull('lacking'), day: { granted: orNull('granted'), returned } }
}

function reopeningOf(stored: (name: string) => string | undefined) {
  const at = stored('reopened_at')
  return {
    wanted: JSON.parse(stored('wanted') ?? 'null'),
    reopenedBy: stored('reopened_by') ?? null,
    reopenedAt: at === undefined ? null : Number(at),
    ownQuestions: (stored('own_questions') ?? '').split(' ').filter((request) => request !== '').length,
    wantsRetry: stored('wants_retry') === '1',
  }
}

function conductorOf(stored: (name: string) => string | undefined) {
  const kind = stored('conductor')
  if (kind === undefined) return null
  if (kind === 'blocked') return { kind, code: stored('conductor_code'), reason: stored('conductor_reason') }
  if (kind !== 'open') return { kind }
  const [version, messages] = [number.parse(stored('agenda_version')), number.parse(stored('messages'))]
  const json = (name: string, none: string): unknown => JSON.parse(stored(name) ?? none)
  return { kind, version, messages, waits: json('conductor_waits', 'null'), planning: json('planning', '[]') }
}

function usedBudgetsOf(stored: (name: string) => string | undefined) {
  return UsedBudget.shape.of.options.flatMap((of) => {
    const text = stored(`over_${of}`)
    if (text === undefined) return []
    const { resets_at: resetsAt, untold, ...same } = Noted.parse(JSON.parse(text))
    return [{ ...same, of, resetsAt, holds: !untold }]
  })
}

function composingOf(stored: (name: string) => string | undefined): Run['composing'] {
  if (isEnded(RunStatus.parse(stored('status')))) return null
  return CompositionProgress.safeParse(parseJson(stored('composing') ?? '')).data ?? null
}

function patchesOf(stored: (name: string) => string | undefined) {
  return Object.fromEntries(
    patches.flatMap(([of, field]) => {
      const note = stored(field)
      return note === undefined ? [] : [[of, parseJson(note)]]
    }),
  )
}

function stopOf(stored: (name: string) => string | undefined): Run['stop'] {
  if (stored('cancel') !== '1') return null
  const operationId = stored('stopped_by')
  if (operationId !== undefined) return { kind: 'policy', operationId }
  const [reason, errorCode] = [stored('cancel_reason') ?? '', stored('cancel_code') ?? '']
  return errorCode === ''
    ? { kind: 'request', reason, by: stored('cancel_by') ?? '', letsFinish: stored('let_finish') === '1' }
    : { kind: 'fault', reason, errorCode }
}

export type RunListPage = { before?: RunId; limit: number; isUnended?: boolean }

/**
 * Lists the project's runs, newest first, from the one accepted before `before`; with `isUnended` those that have not ended. Runs of a newer
 * version and interrupted acceptances are left out: a page may be short and yet not the last. `next` is null on the last one.
 */
export async function listRuns(store: LedgerStore, projectId: ProjectId, page: RunListPage) {
  const key = indexKeys(store.namespace).runsOf(projectId)
  const rank = page.before === undefined ? -1 : await store.redis.zrevrank(key, page.before)
  if (rank === null) return { runs: [], next: null }
  const ids = page.isUnended
    ? await unendedAfter(store, projectId, { rank, count: page.limit + 1 })
    : await store.redis.zrevrange(key, rank + 1, rank + 1 + page.limit)
  const shown = ids.slice(0, page.limit)
  const runs = await Promise.all(shown.map((id) => getRun(store, id).catch(undefinedOn('RUN_001', 'RUN_005'))))
  return {
    runs: runs.filter((run) => run !== undefined).filter((run) => page.isUnended !== true || !isEnded(run.status)),
    next: ids.length > page.limit ? (shown.at(-1) ?? null) : null,
  }
}

/** Returns the ids of runs that have not ended, in the order of the list of all, from the place after `rank` in that. */
async function unendedAfter(
  store: LedgerStore,
  projectId: ProjectId,
  { rank, count }: { rank: number; count: number },
): Promise<RunId[]> {
  const key = indexKeys(store.namespace).runsOf(projectId)
  const active = (await activeRuns(store)).filter((run) => run.projectId === projectId)
  const ranks = await Promise.all(active.map(({ runId }) => store.redis.zrevrank(key, runId)))
  const placed = active.flatMap(({ runId }, at) => {
    const place = ranks[at] ?? -1
    return place > rank ? [{ runId, place }] : []
  })
  return placed
    .toSorted((left, right) => left.place - right.place)
    .slice(0, count)
    .map(({ runId }) => runId)
}

/** An entry of the index: written before its run exists, removed after it has ended. Milliseconds since the epoch. */
export type ActiveRun = { projectId: ProjectId; runId: RunId; acceptedAt: number }

/** Every run of every project that has not ended, oldest first: those that dispatcher, relay and sweeper work on. */
export async function activeRuns(store: LedgerStore): Promise<ActiveRun[]> {
  const flat = await store.redis.zrange(indexKeys(store.namespace).active, '0', '-1', 'WITHSCORES')
  return pairsOf(flat).map(([member, score]) => ({ ...runOfMember(member), acceptedAt: Number(score) }))
}

type RunReads = { activeRuns(): Promise<ActiveRun[]>; getRun(runId: RunId): Promise<Run> }

/** Tells the `/readyz` of a port that only operators reach for which models runs wait, and how many. */
export function awayModelsCheck(ledger: RunReads): PartCheck {
  return async () => {
    const active = await ledger.activeRuns()
    const runs = await Promise.all(
      active.map(({ runId }) => ledger.getRun(runId).catch(undefinedOn('RUN_001', 'RUN_005'))),
    )
    const waits = runs.flatMap((run) => (run === undefined || run.stop !== null ? [] : run.away))
    if (waits.length === 0) return { state: 'ok', message: 'no run waits for a model' }
    const texts = [...Map.groupBy(waits, ({ model }) => model)].map(([model, same]) => {
      const since = new Date(Math.min(...same.map((wait) => wait.since))).toISOString()
      return `no server of the model "${model}" works since ${since}: ${same.length} ${same.length === 1 ? 'run waits' : 'runs wait'}`
    })
    return { state: 'away', message: texts.join('; ') }
  }
}

/** Tells the `/readyz` of the API, which anyone may ask, neither how many runs of all projects wait nor for which models. */
export function publicModelsCheck(ledger: RunReads): PartCheck {
  const check = awayModelsCheck(ledger)
  return async (signal) => {
    const { state, message } = await check(signal)
    return { state, message: state === 'ok' ? message : 'no server works of a model that runs wait for' }
  }
}
