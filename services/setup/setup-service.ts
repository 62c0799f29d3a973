import { AppError } from '#domain/error.ts'
import { unlessDeadly, untilStopped } from '#store/ledger/run-stage.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { openPutPermit } from '#store/ledger/collection-window.ts'
import { redisCheck, expectUsableRedis } from '#store/ledger/redis-check.ts'
import { openStopSignals } from '#store/ledger/stop-signals.ts'
import { openMetrics } from '#platform/metrics/open-metrics.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { loggedOutages } from '#store/objects/logged-outages.ts'
import { objectStoreCheck, permittedPuts } from '#store/objects/object-store.ts'
import { openObjects } from '#store/objects/open-objects.ts'
import { openSnapshotReader } from '#store/objects/snapshot.ts'
import { openHealth } from '#platform/http-health.ts'
import type { Log } from '#platform/log.ts'
import { openReadiness, type PartCheck } from '#platform/readiness.ts'
import { connectRedis, patientAnswerMs } from '#platform/redis-client.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { openReleaser } from '#platform/service-process.ts'
import { openConsumer } from '#store/queues/consumer.ts'
import { openSandbox, type Sandbox } from '#sandbox/open-sandbox.ts'
import type { SandboxedProgram } from '#sandbox/sandboxed-program.ts'
import { openSnapshotArchives, storedFiles } from '#sandbox/snapshot-archives.ts'
import { noTracing } from '#platform/tracing/open-tracing.ts'
import type { SetupConfig } from './setup-config.ts'
import { runSetupStage } from './stage/setup-stage.ts'
import { redisUserCheck } from '#store/ledger/redis-users.ts'

const origin = { kind: 'worker', id: 'setup' } as const
const lockMs = 30_000
const graceMs = 5_000

/** Runs the setups of runs, one at a time, each in a process that has neither the stores nor a key of a model. */
export async function startSetup(config: SetupConfig, { log, redactor }: { log: Log; redactor: Redactor }) {
  const { redisUrl, s3, events } = config.storage
  const releaser = openReleaser()
  try {
    const { redis, stopWaiting } = connectRedis(redisUrl, { retries: 20, answerMs: patientAnswerMs }, log)
    releaser.add('redis', async () => redis.disconnect())
    await expectUsableRedis(redis)
    const metrics = openMetrics('setup')
    const permit = openPutPermit(redis)
    const objects = permittedPuts(loggedOutages(await openObjects(s3), log, metrics), permit)
    releaser.add('objects', async () => objects.close())
    const archive = openEventSegments(objects, events)
    const ledger = openLedger(redis, { origin, archive, redactor, log, traces: noTracing })
    const stops = openStopSignals({ redisUrl, log })
    releaser.add('stop signals', async () => stops.close())
    const readSnapshot = openSnapshotReader(objects)
    const blobs = openBlobStore(objects, { maxCacheBytes: 0, permit })
    const archives = openSnapshotArchives(storedFiles(readSnapshot, blobs))
    releaser.add('archives of snapshots', archives.close)
    const sandbox = openSandbox({ ...config.isolation.sandbox, places: 1 })
    const toolchain = openToolchain(sandbox)
    const deps = { ledger, stops, objects, readSnapshot, archives, isolation: config.isolation, toolchain, log }
    const needed = { redis: redisCheck(redis), object_store: objectStoreCheck(objects), sandbox: sandboxCheck(sandbox) }
    const readiness = openReadiness(needed, { redis_user: redisUserCheck(redis, 'setup') })
    const health = await openHealth(config.health, { readiness, metrics })
    releaser.add('health', health.close)
    const consumer = openConsumer({
      redisUrl,
      queue: 'setups',
      concurrency: 1,
      lockMs,
      log,
      handler: async ({ run_id: runId }, signal, stalls) => {
        await unlessDeadly(runId, { phases: ['planning'], origin, signal, stalls }, ledger, () =>
          untilStopped(runId, (own) => runSetupStage(runId, deps, own), deps, signal),
        )
      },
    })
    releaser.add('consumer', () => consumer.close({ graceMs }))
    releaser.add('commands that wait for Redis', async () => stopWaiting())
    return { healthPort: health.port, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}

const toolLimits = { wallMs: 20_000, memoryBytes: 512 * 1024 ** 2, diskBytes: 16 * 1024 ** 2, processes: 64 }
const versions =
  'uname -m; cat /usr/lib/os-release; for tool in python3 node npm; do $tool --version; done; ! command -v go >/dev/null || go version; true'

/** Throws TOOL_005 when it does not say all. Asked once: a process is started anew when its machine gets other tools. */
export function openToolchain(sandbox: Pick<Sandbox, 'run'>, limits = toolLimits): () => Promise<string> {
  let versionsOnce: Promise<string> | undefined
  const ask = async () => {
    const program: SandboxedProgram = { command: ['sh', '-c', versions], files: {}, limits }
    const { ending, output } = await sandbox.run(program, new AbortController().signal)
    if (ending.kind === 'exited' && ending.code === 0) return output
    throw new AppError('TOOL_005', 'the versions of the tools in the sandbox are not known: it did not say them all')
  }
  return () =>
    (versionsOnce ??= ask().catch((error: unknown) => {
      versionsOnce = undefined
      throw error
    }))
}

function sandboxCheck(sandbox: Pick<Sandbox, 'state'>): PartCheck {
  return async () => {
    const state = await sandbox.state()
    return state.kind === 'works'
      ? { state: 'ok', message: `programs run in ${state.with}` }
      : { state: 'away', message: `there is no sandbox: ${state.reason}` }
  }
}
