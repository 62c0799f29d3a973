import type { Command } from 'commander'
import { isEnded } from '#domain/run.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { ApiClient } from '../api-client.ts'
import type { CliContext } from '../cli-context.ts'
import { followRun } from '../run/follow-run.ts'
import { type Service, withRuns } from '../run/reach-service.ts'

/** `remora cancel RUN`: stops a run and waits until it has ended. */
export function addCancelCommand(program: Command, context: CliContext): void {
  program
    .command('cancel')
    .description('stop a run: no more of it is started, and what is running is aborted')
    .argument('<run>', 'run id')
    .option('--reason <text>', 'why, for those who look at the run later')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, { reason, json }: { reason?: string; json?: true }) => {
      const cancel = async ({ client, signal }: Service) => {
        await client.cancel(runId, reason)
        return ended(runId, client, signal)
      }
      const run = await withRuns(context, cancel, { workers: 0, discovery: true })
      context.io.out(json ? `${JSON.stringify(run)}\n` : `${runId}: ${run.status}, ${countsOf(run)}\n`)
      if (run.status !== 'cancelled') context.io.exit(1)
    })
}

async function ended(runId: string, client: ApiClient, signal: AbortSignal): Promise<RunView> {
  const run = await client.getRun(runId)
  if (isEnded(run.status)) return run
  await followRun(runId, { onEvent: () => {} }, { client, signal, after: run.seq })
  return client.getRun(runId)
}

function countsOf({ counts }: RunView): string {
  const parts = Object.entries(counts).flatMap(([status, count]) => (count > 0 ? [`${count} ${status}`] : []))
  return parts.length === 0 ? 'no operation was planned' : parts.join(', ')
}
