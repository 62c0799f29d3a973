import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { defaultProject, type RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { openModelPool } from '#models/model-pool.ts'
import { startLocalRedis } from '#platform/local-redis.ts'
import { silentLog } from '#platform/log.ts'
import { openReleaser } from '#platform/service-process.ts'
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
import { startLocalS3 } from '#testing/local-s3.ts'
import { anOutcome, aPlannedOperation, aRequest, claimReady, executing } from '#testing/open-test-ledger.ts'
import { median, saveReport, sectionHead, table } from './reports/markdown-report.ts'

/**
 * `node bench/objectives-bench.ts`: how much of a budget operations in parallel use, and whether they ever hold more than it; what the decisions
 * about a run with an objective cost, without operations, and of 20 runs at once with 10,000. Redis and S3 are real, the model is the
 * rehearsal one, and workers only claim and settle. Writes results/objectives.md; with `--quick` it only prints less of it. Fails when a
 * budget is exceeded.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const scale = quick ? { seeds: 1, runs: 2, perRun: 100 } : { seeds: 5, runs: 20, perRun: 500 }
const releaser = openReleaser()
const dir = await mkdtemp(join(tmpdir(), 'remora-objectives-bench-'))
releaser.add('folder', () => rm(dir, { recursive: true, force: true }))
const server = await startLocalRedis({ env: process.env, dir: join(dir, 'redis') })
releaser.add('Redis server', server.stop)
const s3 = await startLocalS3({ dir: join(dir, 's3') })
releaser.add('S3 server', s3.stop)
const redis = new Redis(server.url)
releaser.add('Redis', async () => redis.disconnect())
const namespace = 'bench'
const ledger = openLedger(redis, { namespace })
const objects = openS3ObjectStore({ ...s3, credentials: s3 })
releaser.add('objects', async () => objects.close())
const rehearsal = await startRehearsal({ host: '127.0.0.1', port: 0 })
releaser.add('model', rehearsal.close)
const endpoints = [{ url: rehearsal.url }]
const pool = openModelPool({ endpoints, requestTimeoutMs: 60_000, retryBudgetMs: 10_000, maxInFlight: 8 })
releaser.add('pool', () => pool.close())

/** `most`: what was used and reserved together, at the most. */
type Spent = { what: string; limit: number; seed: number; used: number; most: number; atOnce: number; refused: number }

/** Requests of 400 to 1,600 tokens, of which answers use a fifth to all; one attempt in fifty is lost, as by a killed worker. */
async function spend(what: string, limit: number, seed: number, runIds: readonly RunId[]): Promise<Spent> {
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

const operationsOf = (count: number, name: string) =>
  Array.from({ length: count }, (_, at) => aPlannedOperation(`${name}_${at}`, { bundle: name }))

async function ofOneRun(seed: number): Promise<Spent> {
  const runId = await executing(ledger, operationsOf(500, 'lint'), aRequest({ budget: { tokens: 100_000 } }))
  return spend('a run of 500 operations', 100_000, seed, [runId])
}

async function ofProject(seed: number): Promise<Spent> {
  const projectId = `day${seed}`
  const create: typeof ledger.createRun = (run) => ledger.createRun({ ...run, projectId })
  const of = { ...ledger, createRun: create }
  const runIds = [await executing(of, operationsOf(300, 'lint')), await executing(of, operationsOf(200, 'lint'))]
  await ledger.setProjectBudget(projectId, { by: 'operator', tokens: 60_000 })
  return spend("a project's day, two runs of 500 together", 60_000, seed, runIds)
}

type Decided = { what: string; policy: string; operations: number; requests: number; tokens: number; stepMs: number[] }

/** Carries out what an item plans, as discovery and workers do. */
async function carryOut(runId: RunId, perItem: number, before: number): Promise<boolean> {
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

async function conduct(what: string, policy: string, perItem: number): Promise<Decided> {
  const decided: Decided = { what, policy, operations: 0, requests: 0, tokens: 0, stepMs: [] }
  const model = `rehearsal/${policy}`
  const complete: typeof pool.complete = (...args) => {
    decided.requests += 1
    return pool.complete(...args)
  }
  const deps: StepDeps = {
    ...{ ledger, objects, log: silentLog, leaseMs: 30_000, awayLimitMs: 60_000, plannerName: model },
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
    while (await carryOut(runId, perItem, decided.operations)) decided.operations += perItem
  }
  decided.tokens = (await ledger.getRun(runId)).tokens
  const { violations } = await ledger.verify(runId)
  if (violations.length > 0) throw new Error(`${what}: ${JSON.stringify(violations)}`)
  return decided
}

const start = performance.now()
const spent: Spent[] = []
for (let seed = 1; seed <= scale.seeds; seed += 1) spent.push(await ofOneRun(seed), await ofProject(seed))
const single = [
  await conduct('a simple objective', 'one', 20),
  await conduct('two items', 'basic', 20),
  await conduct('a plan that is made anew', 'replan', 20),
]
const many = await Promise.all(Array.from({ length: scale.runs }, () => conduct('one of them', 'one', scale.perRun)))
const all = {
  operations: many.reduce((sum, { operations }) => sum + operations, 0),
  requests: many.reduce((sum, one) => sum + one.requests, 0),
  stepMs: many.flatMap(({ stepMs }) => stepMs),
}
const figure = (value: number) => Math.round(value).toLocaleString('en')
const text = [
  sectionHead('Runs with an objective', {
    command: 'node bench/objectives-bench.ts',
    redisVersion: /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? 'unknown',
    tookMs: performance.now() - start,
  }),
  'Tokens of a budget, where requests are of 400 to 1,600 tokens and use a fifth to all of it, up to three in an operation, and one attempt in fifty is lost. The run waits',
  'when nothing more fits. "At most" is what was used and reserved together, looked at after each round.',
  '',
  table<Spent>(
    [
      ['budget', ({ what, limit }) => `${figure(limit)}, ${what}`],
      ['seed', ({ seed }) => seed],
      ['used', ({ used, limit }) => `${figure(used)}, ${((100 * used) / limit).toFixed(1)} %`],
      ['at most', ({ most }) => figure(most)],
      ['requests at once', ({ atOnce }) => atOnce],
      ['sent back for lack of tokens', ({ refused }) => figure(refused)],
    ],
    spent.toSorted((left, right) => right.limit - left.limit || left.seed - right.seed),
  ),
  '',
  'Decisions of the rehearsal model (no LLM), whose replies are by a script: what is counted are requests and prompts.',
  '',
  table<Decided>(
    [
      ['objective', ({ what }) => what],
      ['operations', ({ operations }) => operations],
      ['requests', ({ requests }) => requests],
      ['tokens', ({ tokens }) => figure(tokens)],
      ['a step, median', ({ stepMs }) => `${figure(median(stepMs))} ms`],
      ['longest', ({ stepMs }) => `${figure(Math.max(...stepMs))} ms`],
    ],
    single,
  ),
  '',
  `${many.length} such runs at once with ${figure(all.operations)} operations: ${all.requests} requests, ${figure(median(many.map(({ tokens }) => tokens)))} tokens each in the median; a step`,
  `took ${figure(median(all.stepMs))} ms in the median, ${figure(Math.max(...all.stepMs))} ms at most. \`remora verify\` finds nothing wrong in any of them.`,
].join('\n')
await saveReport('objectives', text, { quick })
const over = spent.filter(({ most, limit }) => most > limit)
if (over.length > 0) {
  console.error(`exceeded: ${JSON.stringify(over)}`)
  process.exitCode = 1
}
await releaser.release()
