import { z } from 'zod'
import { requestSpanId } from '#domain/span.ts'
import { parseTraceparent, traceIdOf } from '#domain/traceparent.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import { ProjectId, type RunId } from '#domain/ids.ts'
import { isEnded, type Run, type RunPhase, type RunRequest, runSchema, RunStatus } from '#domain/run.ts'
import { AppError, type ErrorCode } from '#domain/error.ts'
import { ownerOf, storedEvents } from './stored-events.ts'
import { indexKeys, runKeys, storeFormat } from './keys.ts'
import { NamedFields, plainScript, runCommand } from './script.ts'
import { type LedgerStore, redisNowMs } from './store.ts'

const indexScript = plainScript('index-run')
const create = runCommand('create-run', z.unknown(), 'events')
const sliceLength = 200

export type NewRun = {
  runId: RunId
  projectId: ProjectId
  request: RunRequest
  uploadKey: string
  traceparent: string | null
  /** Is `run.accepted`, the run's event 1. */
  acceptedEvent: NewEvent
  /** Names whose run it is, if that may not have more than so many at once. */
  holder?: RunHolder | undefined
}

export type RunHolder = { tokenId: string; runs: number }

/** Throws LIMIT_003 for a token that has as many runs as it may have. */
export async function expectRunRoom({ redis, namespace }: LedgerStore, holder: RunHolder): Promise<void> {
  const { active, heldBy } = indexKeys(namespace)
  const members = await redis.smembers(heldBy(holder.tokenId))
  if (members.length < holder.runs) return
  const scores = await Promise.all(members.map((member) => redis.zscore(active, member)))
  const open = scores.filter((score) => score !== null).length
  if (open >= holder.runs) throw tooManyRuns(open, holder)
}

function tooManyRuns(open: number, { runs }: RunHolder): AppError {
  const has = `${open} ${open === 1 ? 'run' : 'runs'} that ${open === 1 ? 'has' : 'have'} not ended`
  return new AppError('LIMIT_003', `This token has ${has}, and may have ${runs}: wait until one ends, or cancel one.`)
}

/**
 * Makes the run exist, queued. The index is written first, so that a crash leaves an entry without a run, never a run that
 * nobody works on. Creating it again changes nothing. LIMIT_003 when its holder has too many.
 */
export async function createRun(store: LedgerStore, run: NewRun): Promise<void> {
  const { runId, projectId, request } = run
  await indexRun(store, run, '')
  const keys = runKeys(store.namespace, runId)
  const requestText = JSON.stringify(request)
  const answer = await create(store, runId, [
    runSchema,
    projectId,
    request.errorPolicy,
    requestText,
    run.uploadKey,
    run.traceparent ?? '',
    request.budget?.tokens ?? '',
    store.signer?.sign('run', runId, projectId, requestText) ?? '',
    ...(await storedEvents(store, run, [run.acceptedEvent])),
  ])
  if (answer === 'created') logAccepted(run, store.log)
  // When an acceptance was interrupted and repeated later, the entry without a run may have been removed in between.
  const status = RunStatus.parse(await store.redis.hget(keys.run, 'status'))
  if (!isEnded(status)) await activate(store, run)
}

/** Puts a run into the index of active runs: a new one, or `again` one that is to be reopened. LIMIT_003 when its holder has too many. */
export async function indexRun(
  { redis, namespace }: LedgerStore,
  { runId, projectId, holder }: Pick<NewRun, 'runId' | 'projectId' | 'holder'>,
  how: 'again' | '',
): Promise<void> {
  const index = indexKeys(namespace)
  const limited = holder === undefined ? [] : [index.heldBy(holder.tokenId)]
  const keys = [index.active, index.runsOf(projectId), index.format, ...limited]
  const args = [`${projectId}/${runId}`, runId, storeFormat, holder?.runs ?? '', how]
  const indexed = await indexScript(redis, keys, args)
  if (holder !== undefined && typeof indexed === 'number') throw tooManyRuns(indexed, holder)
}

async function activate({ redis, namespace }: LedgerStore, { runId, projectId }: Pick<Run, 'runId' | 'projectId'>) {
  await redis.zadd(indexKeys(namespace).active, 'NX', Date.now(), `${projectId}/${runId}`)
}

const MoveAnswer = z.enum(['moved', 'already', 'refused', 'open'])
export type MoveAnswer = z.infer<typeof MoveAnswer>

const moveRun = runCommand('move', MoveAnswer)

export type RunMove = {
  /** The run moves only from one of these; without `phase`, from any phase of the status. */
  from: readonly { status: RunStatus; phase?: RunPhase }[]
  to: { status?: RunStatus; phase?: RunPhase }
  /** The generation that the caller has seen. In any other one the move is refused: more was planned meanwhile. */
  generation?: number
  /** Names this move: with the same name it is not applied twice. */
  command: string
  set?: { [Name in Exclude<keyof typeof fieldNames, 'nodes' | 'files' | 'errorCode'>]?: string } & {
    nodes?: number
    files?: number
    errorCode?: ErrorCode
  }
  events: readonly NewEvent[]
}

/** The stored names of what stages find out about a run. */
export const foundFields = {
  snapshotId: 'snapshot',
  commit: 'commit',
  baseSnapshotId: 'base_snapshot',
  compositionKey: 'composition',
  nodeListKey: 'node_list',
  edgeListKey: 'edge_list',
  rulesKey: 'rules',
  planKey: 'plan_summary',
  errorCode: 'error',
  reason: 'reason',
} as const
const fieldNames = {
  ...foundFields,
  composing: 'composing',
  environment: 'environment',
  bundles: 'bundles',
  conductor: 'conductor',
  planned: 'planned',
  nodes: 'nodes',
  files: 'files',
} as const

/**
 * Changes a run's status or phase by compare-and-set, with its events. `refused`: it is in none of `from`, has ended, is in
 * another generation, or is being stopped and only `stop` may end it. `open`: some operations have not ended. An end also takes
 * it out of the active runs; a repeated call makes up for that. RUN_001 for an unknown run.
 */
export async function move(store: LedgerStore, runId: RunId, change: RunMove): Promise<MoveAnswer> {
  const values = new Map<string, string | number>(Object.entries(change.set ?? {}))
  const fields = Object.entries(fieldNames).flatMap(([name, stored]) => {
    const value = values.get(name)
    return value === undefined ? [] : [stored, value]
  })
  const result = await moveRun(store, runId, [
    change.command,
    change.to.status ?? '',
    change.to.phase ?? '',
    change.generation ?? '',
    change.from.length,
    ...change.from.flatMap(({ status, phase }) => [status, phase ?? '']),
    fields.length / 2,
    ...fields,
    ...(await storedEvents(store, ownerOf(store, runId), change.events)),
  ])
  const { status } = change.to
  if ((result !== 'moved' && result !== 'already') || status === undefined) return result
  const run = await readIdentity(store, runId)
  if (isEnded(status)) await deactivate(store, run)
  if (result === 'moved') await logMove(run, change, store)
  return result
}

async function readIdentity({ redis, namespace }: LedgerStore, runId: RunId) {
  const names = ['project', 'traceparent', 'accepted', 'reopened_at'] as const
  const [project, traceparent = null, acceptedAt, reopenedAt] = await redis.hmget(
    runKeys(namespace, runId).run,
    ...names,
  )
  return { runId, projectId: ProjectId.parse(project), traceparent, begunAt: Number(reopenedAt ?? acceptedAt) }
}

/** Logs that a run started or ended: the line of its end says what its last event says. */
async function logMove(
  { runId, projectId, traceparent, begunAt }: Awaited<ReturnType<typeof readIdentity>>,
  { to: { status }, events }: RunMove,
  { log, redis, traces }: LedgerStore,
): Promise<void> {
  const run = { run_id: runId, project_id: projectId, trace_id: traceIdOf(traceparent) }
  if (status === 'running') log.info('run started', run)
  if (status === undefined || !isEnded(status)) return
  const endMs = await redisNowMs(redis)
  const { data, errorCode } = events.at(-1) ?? {}
  log.info('run ended', { ...run, status, duration_ms: endMs - begunAt, ...data })
  const trace = parseTraceparent(traceparent)
  if (trace?.isSampled !== true) return
  const attributes = { 'remora.run_id': runId, 'remora.project_id': projectId, 'remora.status': status }
  const ids = { traceId: trace.traceId, spanId: trace.spanId, parentId: requestSpanId(trace) }
  traces.record({ ...ids, name: 'run', kind: 'internal', startMs: begunAt, endMs, attributes, errorCode })
}

function logAccepted({ runId, projectId, request, traceparent, acceptedEvent }: NewRun, log: LedgerStore['log']): void {
  const { origin } = acceptedEvent
  log.info('run accepted', {
    run_id: runId,
    project_id: projectId,
    agents: request.agents,
    request_id: origin.kind === 'api' ? origin.id : undefined,
    trace_id: traceIdOf(traceparent),
  })
}

/** Takes an ended run out of the active ones, unless somebody has reopened it; retention counts its time from here. May be repeated. */
export async function deactivate(store: LedgerStore, run: { projectId: ProjectId; runId: RunId }) {
  const { projectId, runId } = run
  const { active, ended, projects } = indexKeys(store.namespace)
  const member = `${projectId}/${runId}`
  // What an interrupted reopening left there is of an earlier end. An entry without a run counts from now.
  const at = (await store.redis.hget(runKeys(store.namespace, runId).run, 'ended')) ?? (await redisNowMs(store.redis))
  // Not in one transaction: a client sends each of these again by itself when its answer was lost.
  await Promise.all([store.redis.zadd(ended, at, member), store.redis.sadd(projects, projectId)])
  await store.redis.zrem(active, member)
  const status = RunStatus.safeParse(await store.redis.hget(runKeys(store.namespace, runId).run, 'status')).data
  if (status === undefined || isEnded(status)) return
  await store.redis.zrem(ended, member)
  await activate(store, run)
}

const CancelAnswer = z.enum(['stopping', 'ended', 'elsewhere'])

/** `stopping`: it will end, for the reason given first. `ended`: it had ended before. `elsewhere`: it is in none of the phases. */
export type CancelAnswer = z.infer<typeof CancelAnswer>

const stop = runCommand('cancel', CancelAnswer)

export type CancelRequest = {
  reason: string
  origin: EventOrigin
  /** The run ends as failed with this code; without it, as cancelled. */
  errorCode?: ErrorCode
  /** The run is stopped only while it is in one of these. */
  phases?: readonly RunPhase[]
  /** The operations that run now may finish, and what they come to counts; one that is handed back does not start again. */
  letFinish?: boolean
}

/**
 * Stops a run: no operation starts any more, and workers are notified. The caller of `endSlice` ends what has not started, then
 * the run. A later request without `letFinish` stops also what an earlier one lets finish. RUN_001 for an unknown run.
 */
export async function cancel(store: LedgerStore, runId: RunId, request: CancelRequest): Promise<CancelAnswer> {
  const { reason, origin, errorCode = '', phases = [], letFinish = false } = request
  return stop(store, runId, [reason, errorCode, origin.kind, origin.id, letFinish ? '1' : '0', ...phases])
}

const EndSliceReply = z.union([
  z.literal('going_on'),
  NamedFields.pipe(z.object({ next: z.int().optional(), open: z.int() })),
])
const endSome = runCommand('end-slice', EndSliceReply)

/** `next`: where the next slice begins, undefined after the last. `open`: 0 once all ended and dependents are notified. */
export type EndSliceAnswer = { next: number | undefined; open: number }

/** Ends operations of a stopped run, 200 from place `first`. Undefined when it was not stopped. RUN_001: unknown. */
export async function endSlice(store: LedgerStore, runId: RunId, first: number): Promise<EndSliceAnswer | undefined> {
  const { kind, id } = store.origin
  const reply = await endSome(store, runId, [first, sliceLength, kind, id])
  return reply === 'going_on' ? undefined : { next: reply.next, open: reply.open }
}

const TakeReply = z.union([
  z.literal('open'),
  NamedFields.pipe(z.object({ at: z.coerce.number(), by: z.string(), own: z.int() })),
])
const take = runCommand('take-result', TakeReply, 'keys')

/** `taken`: it is the caller's. `consumed`: another one has had it. `open`: the run has not ended. */
export type TakenResult = { kind: 'taken' | 'consumed'; by: string; at: number } | { kind: 'open' }

/** Takes the result of the run's present generation, which only one command gets; sent again, it gets it again. RUN_001. */
export async function takeResult(
  store: LedgerStore,
  runId: RunId,
  { command, by }: { command: string; by: string },
): Promise<TakenResult> {
  const reply = await take(store, runId, [command, by])
  if (reply === 'open') return { kind: 'open' }
  return { kind: reply.own === 1 ? 'taken' : 'consumed', by: reply.by, at: reply.at }
}
