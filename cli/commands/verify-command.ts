import type { Command } from 'commander'
import { AppError } from '#domain/error.ts'
import { connectRedis } from '#platform/redis-client.ts'
import { readEnv } from '#platform/env.ts'
import { type StorageConfig, storageConfig, storageEnv } from '#settings/storage-settings.ts'
import { RunId } from '#domain/ids.ts'
import { plural } from '#domain/timeline/words.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import type { ProofDeps, RunVerification } from '#stages/audit/verify-run.ts'
import { withoutLogin } from '#platform/hide-secrets.ts'
import type { CliContext } from '../cli-context.ts'
import { untilAborted } from '#platform/clock.ts'
import { openStores } from '../run/reach-service.ts'
import { findRunningStack, type StackAccess } from '../stack/running-stack.ts'
import { silentLog } from '#platform/log.ts'

/** Derives the run's state again from its events and objects, and prints every violation. Exit code 1 on any. */
export function addVerifyCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, { json }: { json?: true }) => {
      const parsed = RunId.safeParse(runId)
      if (!parsed.success) throw new AppError('RUN_001', `There is no run "${runId}".`)
      const verified = await withStores(context, (stores) =>
        withProof(stores, (verifyRun) => untilAborted(verifyRun(parsed.data), context.signal)),
      )
      const verification = judgeVerification(verified)
      const document = { run_id: runId, ok: verification.violations.length === 0, ...verification }
      context.io.out(json ? `${JSON.stringify(document)}\n` : describeVerification(runId, verification))
      if (!document.ok) context.io.exit(1)
    })
}

/** Uses the stores of REMORA_REDIS_URL and REMORA_S3_…, else of the stack that runs in the data folder, else opens those of the data folder. */
async function withStores<T>(context: CliContext, use: (stores: StorageConfig) => Promise<T>): Promise<T> {
  const { storage, dataDir, apiUrl } = context.config
  if (storage !== undefined) return use(storage)
  const running = await findRunningStack(dataDir)
  if (running !== undefined && (apiUrl ?? running.url) === running.url) return use(storesOf(running))
  if (apiUrl !== undefined) {
    const advice =
      'call it where the data folder of the services is, or set REMORA_REDIS_URL and REMORA_S3_… as the service has them'
    throw new AppError(
      'CONFIG_001',
      `verify reads Redis and S3 directly, and ${withoutLogin(apiUrl)} does not say where they are: ${advice}`,
    )
  }
  const stores = await openStores(context)
  try {
    return await use(storesOf(stores))
  } finally {
    await stores.close()
  }
}

function storesOf({ redisUrl, objectsUrl }: Pick<StackAccess, 'redisUrl' | 'objectsUrl'>): StorageConfig {
  return storageConfig(readEnv(storageEnv, { REMORA_REDIS_URL: redisUrl, REMORA_S3_ENDPOINT: objectsUrl }))
}

type Verify = (runId: RunId) => Promise<RunVerification>

/** The object store's client and BullMQ are loaded only here, because they take most of the time to load. */
async function withProof<T>({ redisUrl, s3 }: StorageConfig, use: (verify: Verify) => Promise<T>): Promise<T> {
  const { openEventSegments } = await import('#store/objects/event-segments.ts')
  const { openObjects } = await import('#store/objects/open-objects.ts')
  const { openProducer } = await import('#store/queues/producer.ts')
  const { verifyRun } = await import('#stages/audit/verify-run.ts')
  // Connection errors are reported by the Redis command that fails.
  const { redis } = connectRedis(redisUrl, { retries: 1, connectTimeoutMs: 2_000 }, silentLog)
  const objects = await openObjects(s3)
  const queues = openProducer({ redisUrl, log: silentLog })
  const ledger = openLedger(redis, { archive: openEventSegments(objects) })
  const deps: ProofDeps = { ledger, objects, queues }
  try {
    return await use((runId) => verifyRun(runId, deps))
  } finally {
    await queues.close()
    redis.disconnect()
    objects.close()
  }
}

const underWay = 'the run has not ended, so only what holds at every moment is checked: verify it again when it has'
/** Holds at every moment, even while the run is worked on: gapless events and existing objects. */
const alwaysHold: readonly number[] = [1, 7]

/** Leaves out what does not count: the pages of a run under way are of different moments, so only what always holds is judged. */
export function judgeVerification(verified: RunVerification): RunVerification {
  if (verified.ended) return verified
  return { ...verified, violations: verified.violations.filter(({ invariant }) => alwaysHold.includes(invariant)) }
}

export function describeVerification(
  runId: string,
  { ended, violations, events, operations }: RunVerification,
): string {
  const head = `${runId}: ${plural(events, 'event')}, ${plural(operations, 'operation')}, `
  const judged = ended ? 'invariants 1 to 8' : 'invariants 1 and 7'
  const verdict = violations.length === 0 ? `no violation of ${judged}` : plural(violations.length, 'violation')
  const lines = violations.map(({ invariant, message }) => `  ${invariant}: ${message}`)
  return `${[...(ended ? [] : [underWay]), `${head}${verdict}`, ...lines].join('\n')}\n`
}
