import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { defaultProject, newRunId, newToken, type RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { RunRequest } from '#domain/run.ts'
import type { Attempt, DispatchedOperation } from '#store/ledger/attempt.ts'
import { type Ledger, openLedger } from '#store/ledger/ledger.ts'
import { maxSliceOperations } from '#store/ledger/plan.ts'
import type { EventArchive } from '#store/ledger/stored-events.ts'
import { startLocalRedis } from '#platform/local-redis.ts'
import { delay } from '#platform/clock.ts'

const origin = { kind: 'discovery', id: 'bench' } as const

/** A run that waits for its plan. By default it has no snapshot that can be read. */
export async function newRun(ledger: Ledger, snapshotId = 's'.repeat(17)): Promise<RunId> {
  const runId = newRunId(Date.now())
  await ledger.createRun({
    runId,
    projectId: defaultProject,
    request: RunRequest.parse({ agents: ['docstring', 'lint', 'summary'] }),
    uploadKey: `projects/${defaultProject}/uploads/${runId}`,
    traceparent: null,
    acceptedEvent: { event: 'run.accepted', phase: 'snapshot', origin, data: { agents: [] } },
  })
  await ledger.move(runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'planning' },
    command: 'start',
    set: { snapshotId },
    events: [{ event: 'run.started', phase: 'planning', origin, data: { agents: [] } }],
  })
  return runId
}

export function slicesOf(operations: readonly PlannedOperation[]): PlannedOperation[][] {
  const slices = Math.ceil(operations.length / maxSliceOperations)
  return Array.from({ length: slices }, (_, slice) =>
    operations.slice(slice * maxSliceOperations, (slice + 1) * maxSliceOperations),
  )
}

export async function planAll(
  ledger: Ledger,
  runId: RunId,
  slices: readonly PlannedOperation[][],
  afterSlice: (planned: number) => Promise<void> = async () => {},
): Promise<void> {
  for (const [slice, operations] of slices.entries()) {
    const answer = await ledger.plan(runId, { slice, operations, last: slice === slices.length - 1 })
    if (answer !== 'planned') throw new Error(`slice ${slice} was answered ${answer}`)
    await afterSlice(slice * maxSliceOperations + operations.length)
  }
}

export async function execute(ledger: Ledger, runId: RunId): Promise<void> {
  await ledger.move(runId, {
    from: [{ status: 'running', phase: 'planning' }],
    to: { phase: 'execution' },
    command: 'plan',
    events: [
      {
        event: 'run.planned',
        phase: 'planning',
        origin,
        data: { operations: 0, nodes_looked_at: 0, beyond_limit: 0, looked_at: 0, agents: {}, notices: [] },
      },
    ],
  })
}

export async function complete(ledger: Ledger, runId: RunId): Promise<void> {
  const answer = await ledger.move(runId, {
    from: [{ status: 'running', phase: 'review' }],
    to: { status: 'completed' },
    command: 'complete',
    events: [
      {
        event: 'run.completed',
        phase: 'review',
        origin,
        data: {
          operations: {},
          change_sets: 0,
          files_changed: 0,
          conflicts: 0,
          turns: 0,
          prompt_tokens: 0,
          completion_tokens: 0,
        },
      },
    ],
  })
  if (answer !== 'moved') throw new Error(`the run did not get to its end: ${answer}`)
}

export async function claimOne(ledger: Ledger, job: DispatchedOperation): Promise<Attempt> {
  const answer = await ledger.claim(job, newToken())
  if (answer.kind !== 'claimed') throw new Error(`a claim was answered ${answer.kind}`)
  return answer.attempt
}

/** Runs `work` on the items, `lanes` at a time, and starts them in order. */
export async function inLanes<T>(items: readonly T[], lanes: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const lane = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

export type BenchLedger = {
  ledger: Ledger
  redis: Redis
  /** Numbers of events and JSON bytes moved to the archive. */
  archived: { events: number; bytes: number }
  close(): Promise<void>
}

/** The ledger over a Redis of its own, empty and with the settings of the embedded one; it has an archive if asked. */
export async function openBenchLedger(options: { archive: boolean }): Promise<BenchLedger> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-ledger-bench-'))
  const server = await startLocalRedis({ env: process.env, dir })
  const redis = new Redis(server.url)
  const archived = { events: 0, bytes: 0 }
  const ledger = openLedger(redis, { origin, ...(options.archive ? { archive: countingArchive(archived) } : {}) })
  return {
    ledger,
    redis,
    archived,
    async close() {
      redis.disconnect()
      await server.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Counts what it is given and stores nothing: the cost of an object store is not measured here. */
function countingArchive(counted: BenchLedger['archived']): EventArchive {
  return {
    maxInlineBytes: 16_384,
    async put(_segment, events) {
      counted.events += events.length
      counted.bytes += JSON.stringify(events).length
    },
    get: async () => undefined,
    putPayload: async () => '',
    putTalk: async () => {},
    getTalk: async () => [],
    getPayload: async () => ({}),
  }
}

/**
 * `commandMs`: time in commands by Redis' own clock, which goes on while the kernel runs another program. `cpuMs`: CPU
 * of the whole server, without that time but with reading, answering and the append-only file.
 */
export type RedisWork = { commandMs: number; cpuMs: number }

/** What Redis spends while `work` runs, and on the named commands. A script's time includes everything it calls. */
export async function redisWork(
  redis: Redis,
  commands: readonly string[],
  work: () => Promise<void>,
): Promise<RedisWork> {
  const before = await cpuMs(redis)
  await redis.config('RESETSTAT')
  await work()
  const after = await cpuMs(redis)
  const stats = await redis.info('commandstats')
  const usecOf = (name: string) =>
    Number(new RegExp(`^cmdstat_${name}:calls=\\d+,usec=(\\d+)`, 'm').exec(stats)?.[1] ?? 0)
  return { commandMs: commands.reduce((sum, name) => sum + usecOf(name), 0) / 1000, cpuMs: after - before }
}

async function cpuMs(redis: Redis): Promise<number> {
  const info = await redis.info('cpu')
  const seconds = [...info.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)].map(([, value]) => Number(value))
  return seconds.reduce((sum, value) => sum + value, 0) * 1000
}

export const scripts = ['evalsha', 'eval'] as const

/** Memory Redis has allocated for data: without the buffers of clients and of the append-only file. */
export async function dataBytes(redis: Redis): Promise<number> {
  const memory = await redis.info('memory')
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(memory)?.[1] ?? 0)
  return field('used_memory') - field('mem_clients_normal') - field('mem_aof_buffer')
}

const restMs = 250
const steadyShare = 0.0005

/** The same once it is steady: lazy frees and resizing of hash tables continue after the last command. */
export async function settledBytes(redis: Redis): Promise<number> {
  let last = await dataBytes(redis)
  for (let steady = 0; steady < 3;) {
    await delay(restMs)
    const next = await dataBytes(redis)
    steady = Math.abs(next - last) <= last * steadyShare ? steady + 1 : 0
    last = next
  }
  return last
}

export async function redisVersion(redis: Redis): Promise<string> {
  return /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? 'unknown'
}
