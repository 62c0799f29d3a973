import { resolve } from 'node:path'
import type { Command } from 'commander'
import { AppError } from '#domain/error.ts'
import { RunId } from '#domain/ids.ts'
import type { CliContext } from '../cli-context.ts'
import { reportRun } from '../run/report-run.ts'
import { followRun } from '../run/follow-run.ts'
import { openLineFile } from '../run/output-file.ts'
import { runningService } from '../run/reach-service.ts'
import { showProgress } from '../run/show-progress.ts'

/** `remora watch RUN`: shows what `remora run` shows, for a run that was submitted before. */
export function addWatchCommand(program: Command, context: CliContext): void {
  program
    .command('watch')
    .description('follow a run of a running service to its end; the exit codes are those of run')
    .argument('<run>', 'run id')
    .option('--events <file>', 'write every event to a file, one JSON line each')
    .option('--json', 'print events as JSON Lines, and the result as the last line')
    .action(async (runId: string, { json = false, events }: { events?: string; json?: boolean }) => {
      if (!RunId.safeParse(runId).success) throw new AppError('RUN_001', `There is no run "${runId}".`)
      await watchRun({ runId, json, events }, context)
    })
}

/**
 * Follows a run of a running service from its first event to its end, and reports it. It starts nothing, and the run
 * continues when it is no longer watched. RUN_001 for an unknown run, before anything is written.
 */
async function watchRun(
  { runId, json, events: path }: { runId: string; json: boolean; events: string | undefined },
  context: CliContext,
): Promise<void> {
  const client = await runningService(context)
  try {
    await client.getRun(runId)
    const events = path === undefined ? undefined : await openLineFile(resolve(context.cwd, path))
    const progress = showProgress(runId, { json, onLine: events?.add }, context)
    try {
      await followRun(runId, progress, { client, signal: context.signal })
    } catch (error) {
      progress.close()
      if (context.signal.aborted) context.io.err(`\nRun ${runId} continues; only watching it has stopped.\n`)
      throw error
    } finally {
      await events?.close()
    }
    progress.close()
    const run = await client.getRun(runId)
    const patch = { printedBy: `remora diff ${runId}` }
    reportRun({ state: progress.state(), run, patch }, { json, context })
  } finally {
    await client.close()
  }
}
