import type { ServiceDeps } from '#platform/service-process.ts'
import { AppError } from '#domain/error.ts'
import { unlessDeadly, untilStopped } from '#store/ledger/run-stage.ts'
import { openStopSignals } from '#store/ledger/stop-signals.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { openSnapshotReader } from '#store/objects/snapshot.ts'
import { type PartCheck } from '#platform/readiness.ts'
import { openConsumer } from '#store/queues/consumer.ts'
import { startService } from '#store/start-service.ts'
import { openSandbox, type Sandbox } from '#sandbox/open-sandbox.ts'
import type { SandboxedProgram } from '#sandbox/sandboxed-program.ts'
import { openSnapshotArchives, storedFiles } from '#sandbox/snapshot-archives.ts'
import { parseConfig, type SetupConfig } from './setup-config.ts'
import { runSetupStage } from './stage/setup-stage.ts'

const origin = { kind: 'worker', id: 'setup' } as const
const lockMs = 30_000
const graceMs = 5_000

export const setup = { name: 'setup', refuses: 'pathsFault', parseConfig, start: startSetup } as const

/** Runs the setups of runs, one at a time, each in a process that has neither the stores nor a key of a model. */
function startSetup(config: SetupConfig, deps: ServiceDeps) {
  const { storage, health, isolation } = config
  const { log } = deps
  const sandbox = openSandbox({ ...isolation.sandbox, places: 1 })
  const service = { name: 'setup', origin, storage, health, needs: { sandbox: sandboxCheck(sandbox) } } as const
  return startService(service, deps, ({ ledger, objects, permit }, releaser) => {
    const { redisUrl } = storage
    const stops = openStopSignals({ redisUrl, log })
    releaser.add('stop signals', async () => stops.close())
    const readSnapshot = openSnapshotReader(objects)
    const blobs = openBlobStore(objects, { maxCacheBytes: 0, permit })
    const archives = openSnapshotArchives(storedFiles(readSnapshot, blobs))
    releaser.add('archives of snapshots', archives.close)
    const stage = { ledger, stops, objects, readSnapshot, archives, isolation, toolchain: openToolchain(sandbox), log }
    const consumer = openConsumer({
      redisUrl,
      queue: 'setups',
      concurrency: 1,
      lockMs,
      log,
      handler: async ({ run_id: runId }, signal, stalls) => {
        await unlessDeadly(runId, { phases: ['planning'], origin, signal, stalls }, ledger, () =>
          untilStopped(runId, (own) => runSetupStage(runId, stage, own), stage, signal),
        )
      },
    })
    releaser.add('consumer', () => consumer.close({ graceMs }))
    return {}
  })
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
