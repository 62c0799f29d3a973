import { defaultProject, type RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { openModelPool } from '#models/model-pool.ts'
import { silentLog } from '#platform/log.ts'
import type { Releaser } from '#platform/service-process.ts'
import { startRehearsal } from '#rehearsal/rehearsal-server.ts'
import { conductedRun } from '#stages/conduct/conducted-run.fixture.ts'
import { stepRun, type StepDeps } from '#stages/conduct/step-run.ts'
import { openDispatcher } from '#stages/dispatch/dispatcher.fixture.ts'
import { openRandom, openReservingWorkers } from '#stages/dispatch/reserving-workers.fixture.ts'
import { dispatchReady } from '#stages/dispatch/run-dispatcher.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { getBundle } from '#store/objects/stored-records.ts'
import { aPlannedItem } from '#testing/conducted-run.ts'
import { anOutcome, aPlannedOperation, aRequest, claimReady, executing } from '#testing/open-test-ledger.ts'
import { openBenchStores } from './bench-stores.ts'

/** `most`: what was used and reserved together, at the most. */
export type Spent = {
  what: string
  limit: number
  seed: number
  used: number
  most: number
  atOnce: number
  refused: number
}

export type Decided = {
  what: string
  policy: string
  operations: number
  requests: number
  tokens: number
  stepMs: number[]
}

const operationsOf = (count: number, name: string) =>
  Array.from({ length: count }, (_, at) => aPlannedOperation(`${name}_${at}`, { bundle: name }))

/** Plays what the other services do for runs with budgets and objectives, over stores of their own and the rehearsal model. */
export async function openObjectiveRuns(releaser: Pick<Releaser, 'add'>) {
  const { redis, s3 } = await openBenchStores(releaser)
  const namespace = 'bench'
  const ledger = openLedger(redis, { namespace })
  const objects = openS3ObjectStore({ ...s3, credentials: s3 })
  releaser.add('objects', async () => objects.close())
  const rehearsal = await startRehearsal({ host: '127.0.0.1', port: 0 })
  releaser.add('model', rehearsal.close)
  const endpoints = [{ url: rehearsal.url }]
  const pool = openModelPool({ endpoints, requestTimeoutMs: 60_000, retryBudgetMs: 10_000, maxInFlight: 8 })
  releaser.add('pool', () => pool.close())

  return { redis, namespace, ledger, objects, pool }
}

type Opened = Awaited<ReturnType<typeof openObjectiveRuns>>

/** Requests of 400 to 1,600 tokens, of which answers use a fifth to all; one attempt in fifty is lost, as by a killed worker. */
async function spend(
  { ledger, redis, namespace }: Opened,
  { what, limit, seed }: Pick<Spent, 'what' | 'limit' | 'seed'>,
  runIds: readonly RunId[],
): Promise<Spent> {
  const random = openRandom(seed)
  const ask = () => {
    const bound = 400 + Math.floor(random() * 1_200)
    return { bound, used: Math.ceil(bound * (0.2 + 0.8 * random())) }
  }
  const workers = openReservingWorkers({ ledger, redis, namespace }, { turns: 3, lossRate: 0.02, random, ask })
  const dispatchers = [1, 2].map(() => openDispatcher({ ledger }, { operations: 500 }))
  const isStill = ({ status, phase }: Run) => status === 'waiting' || phase === 'review'
  for (let most = 0; ;) {
    await Promise.all(dispatchers.map(({ deps }) => dispatchReady(deps)))
    for (const runId of runIds) await workers.step(runId, 0.7)
    for (const runId of runIds) await ledger.sweep(runId)
    const runs = await Promise.all(runIds.map((runId) => ledger.getRun(runId)))
    const used = runs.reduce((sum, { tokens }) => sum + tokens, 0)
    most = Math.max(most, used + runs.reduce((sum, { reserved }) => sum + reserved, 0))
    if (runs.every(isStill))
      return { what, limit, seed, used, most, atOnce: workers.seen.open, refused: workers.seen.refused }
  }
}

export async function ofOneRun(opened: Opened, seed: number): Promise<Spent> {
  const runId = await executing(opened.ledger, operationsOf(500, 'lint'), aRequest({ budget: { tokens: 100_000 } }))
  return spend(opened, { what: 'a run of 500 operations', limit: 100_000, seed }, [runId])
}

export async function ofProject(opened: Opened, seed: number): Promise<Spent> {
  const projectId = `day${seed}`
  const { ledger } = opened
  const create: typeof ledger.createRun = (run) => ledger.createRun({ ...run, projectId })
  const of = { ...ledger, createRun: create }
  const runIds = [await executing(of, operationsOf(300, 'lint')), await executing(of, operationsOf(200, 'lint'))]
  await ledger.setProjectBudget(projectId, { by: 'operator', tokens: 60_000 })
  return spend(opened, { what: "a project's day, two runs of 500 together", limit: 60_000, seed }, runIds)
}

/** Carries out what an item plans, as discovery and workers do. */
async function carryOut({ ledger }: Opened, runId: RunId, perItem: number, before: number): Promise<boolean> {
  const { conductor, generation } = await ledger.getRun(runId)
  const [next] = conductor?.kind === 'open' ? conductor.planning : []
  if (next === undefined) return false
  const operations = operationsOf(perItem, next.item_id)
  // Where there are operations already, those of an item are a generation of their own.
  const planned = aPlannedItem(next.item_id, next.version, operations, before === 0 ? generation : generation + 1)
  const answer = await ledger.plan(runId, { ...planned, slice: 0, last: true, planHash: next.item_id })
  if (answer !== 'planned') throw new Error(`an item was ${answer}`)
  const attempts = await claimReady(ledger, runId)
  await Promise.all(attempts.map((attempt) => ledger.settle(attempt, 1, { outcome: anOutcome(), events: [] })))
  return true
}

export async function conduct(opened: Opened, what: string, policy: string, perItem: number): Promise<Decided> {
  const { ledger, objects, pool } = opened
  const decided: Decided = { what, policy, operations: 0, requests: 0, tokens: 0, stepMs: [] }
  const model = `rehearsal/${policy}`
  const complete: typeof pool.complete = (...args) => {
    decided.requests += 1
    return pool.complete(...args)
  }
  const deps: StepDeps = {
    ledger,
    objects,
    log: silentLog,
    leaseMs: 30_000,
    awayLimitMs: 60_000,
    plannerName: model,
    model: { ...pool, complete },
    planner: async () => ({ model, temperature: 0, toolChoice: 'required' }),
    bundle: (project, hash) => getBundle(objects, project, hash),
    origin: { kind: 'conductor', id: 'bench' },
  }
  const runId = await conductedRun({ ledger, objects, project: defaultProject }, { budget: { tokens: 10_000_000 } })
  for (let end = ''; end !== 'over';) {
    const start = performance.now()
    end = await stepRun(runId, deps, AbortSignal.timeout(120_000))
    decided.stepMs.push(performance.now() - start)
    while (await carryOut(opened, runId, perItem, decided.operations)) decided.operations += perItem
  }
  decided.tokens = (await ledger.getRun(runId)).tokens
  const { violations } = await ledger.verify(runId)
  if (violations.length > 0) throw new Error(`${what}: ${JSON.stringify(violations)}`)
  return decided
}
