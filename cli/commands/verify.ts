import type { Command } from 'commander'
import { AppError } from '#domain/error.ts'
import { connectRedis } from '#platform/connect-redis.ts'
import type { StorageConfig } from '#platform/env.ts'
import { RunId } from '#domain/ids.ts'
import { openLedger } from '#ledger/ledger.ts'
import type { ProofDeps, RunVerification } from '#proof/verify-run.ts'
import { withoutLogin } from '#platform/without-login.ts'
import type { CliContext } from '../cli-context.ts'
import { orInterrupted } from '../or-interrupted.ts'
import { describeVerification, judgeVerification } from '../run/judge-verification.ts'
import { startEmbedded } from '../run/reach-service.ts'
import { findRunningStack, type StackAccess } from '../stack/stack-access.ts'
import type { Stack } from '../stack/start-stack.ts'

type VerifyOptions = { json?: true }

/**
 * `remora verify RUN`: derives the run's state again from its events and stored objects, looks for what it has left, and
 * prints every violation (of a run that is under way see `judgeVerification`). Exit code 1 on any.
 */
export function addVerifyCommand(program: Command, context: CliContext): void {
  program
    .command('verify')
    .description("check a run's state against its events and objects; exit code 1 on any violation")
    .argument('<run>', 'run id')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, options: VerifyOptions) => {
      const parsed = RunId.safeParse(runId)
      if (!parsed.success) throw new AppError('RUN_001', `There is no run "${runId}".`)
      const found = await withStores(context, (stores) =>
        withProof(stores, (verifyRun) => orInterrupted(verifyRun(parsed.data), context.signal)),
      )
      const verification = judgeVerification(found)
      const document = { run_id: runId, ok: verification.violations.length === 0, ...verification }
      context.io.out(options.json ? `${JSON.stringify(document)}\n` : describeVerification(runId, verification))
      if (!document.ok) context.io.exit(1)
    })
}

/** Those of REMORA_REDIS_URL and its kin, else of the stack that runs in the data folder, else the embedded data. */
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
  const stack = await startEmbedded({ workers: 0 }, context)
  try {
    return await use(storesOf(stack))
  } finally {
    await stack.stop()
  }
}

function storesOf({ redisUrl, s3 }: StackAccess | Stack): StorageConfig {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = s3
  return { redisUrl, s3: { endpoint, bucket, region, credentials: { accessKeyId, secretAccessKey } } }
}

type Verify = (runId: RunId) => Promise<RunVerification>

/** The S3 client and BullMQ are loaded only when they are needed: they are most of what there is to load. */
async function withProof<T>({ redisUrl, s3 }: StorageConfig, use: (verify: Verify) => Promise<T>): Promise<T> {
  const { openEventSegments } = await import('#objects/event-segments.ts')
  const { openS3ObjectStore } = await import('#objects/s3-object-store.ts')
  const { openProducer } = await import('#queues/producer.ts')
  const { verifyRun } = await import('#proof/verify-run.ts')
  // The command that fails says what is wrong with a connection.
  const log = { warn: () => {} }
  const { redis } = connectRedis(redisUrl, { retries: 1, connectTimeoutMs: 2_000 }, log)
  const objects = openS3ObjectStore(s3)
  const queues = openProducer({ redisUrl, log })
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
