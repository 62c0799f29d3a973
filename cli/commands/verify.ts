import type { Command } from 'commander'
import type { Redis } from 'ioredis'
import { AppError } from '#domain/error.ts'
import { connectRedis } from '#platform/connect-redis.ts'
import { RunId } from '#domain/ids.ts'
import { openLedger, type Ledger } from '#ledger/ledger.ts'
import type { CliContext } from '../cli-context.ts'
import { orInterrupted } from '../or-interrupted.ts'
import { startEmbedded } from '../run/reach-service.ts'
import { findRunningStack } from '../stack/stack-access.ts'

type VerifyOptions = { json?: true }
type Verification = Awaited<ReturnType<Ledger['verify']>>

/** `remora verify RUN`: derives the run's state from its events again and prints every difference. Exit code 1 on any. */
export function addVerifyCommand(program: Command, context: CliContext): void {
  program
    .command('verify')
    .description("check a run's state against its events; exit code 1 on any violation")
    .argument('<run>', 'run id')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, options: VerifyOptions) => {
      const parsed = RunId.safeParse(runId)
      if (!parsed.success) throw new AppError('RUN_001', `There is no run "${runId}".`)
      const verification = await withRedis(context, (redis) =>
        orInterrupted(openLedger(redis).verify(parsed.data), context.signal),
      )
      const document = { run_id: runId, ok: verification.violations.length === 0, ...verification }
      context.io.out(options.json ? `${JSON.stringify(document)}\n` : describe(runId, verification))
      if (!document.ok) context.io.exit(1)
    })
}

/** REMORA_REDIS_URL, else that of the stack that runs in the data folder, else the embedded data. */
async function withRedis<T>(context: CliContext, use: (redis: Redis) => Promise<T>): Promise<T> {
  const { storage, dataDir, apiUrl } = context.config
  if (storage !== undefined) return withConnection(storage.redisUrl, use)
  const running = await findRunningStack(dataDir)
  if (running !== undefined && (apiUrl ?? running.url) === running.url) return withConnection(running.redisUrl, use)
  if (apiUrl !== undefined) {
    const advice = 'call it in the folder of the stack, or set REMORA_REDIS_URL to that of the service'
    throw new AppError('CONFIG_001', `verify reads Redis itself, which ${apiUrl} does not tell: ${advice}`)
  }
  const stack = await startEmbedded({ workers: 0 }, context)
  try {
    return await withConnection(stack.redisUrl, use)
  } finally {
    await stack.stop()
  }
}

async function withConnection<T>(url: string, use: (redis: Redis) => Promise<T>): Promise<T> {
  // The command that fails says what is wrong with the connection.
  const { redis } = connectRedis(url, { retries: 1, connectTimeoutMs: 2_000 }, { warn: () => {} })
  try {
    return await use(redis)
  } finally {
    redis.disconnect()
  }
}

function describe(runId: string, { violations, events, operations }: Verification): string {
  const head = `${runId}: ${events} events, ${operations} operations, `
  if (violations.length === 0) return `${head}no violation of invariants 1 to 6\n`
  return `${[`${head}${violations.length} violations`, ...violations.map((v) => `  ${v.invariant}: ${v.message}`)].join('\n')}\n`
}
