import { resolve } from 'node:path'
import type { Command } from 'commander'
import { AppError } from '#domain/error.ts'
import type { EventCategory } from '#domain/events/event-table.ts'
import { RunId } from '#domain/ids.ts'
import type { CliContext } from '../cli-context.ts'
import { followRun } from '../run/follow-run.ts'
import { openLineFile } from '../run/output-file.ts'
import { runningService } from '../run/reach-service.ts'
import { reportRun } from '../run/report-run.ts'
import { showProgress } from '../run/show-progress.ts'
import { categoryList, eventsFileOption } from './shared-options.ts'

type WatchOptions = { events?: EventCategory[]; eventsTo?: string; json?: boolean }

export function addWatchCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .option(
      '--events <categories>',
      'print each event of these categories as a line, instead of the progress; separated by commas',
      categoryList,
    )
    .option(...eventsFileOption)
    .option('--json', 'print events as JSON Lines, and the result as the last line: the default in a pipe')
    .action(async (runId: string, options: WatchOptions) => {
      if (!RunId.safeParse(runId).success) throw new AppError('RUN_001', `There is no run "${runId}".`)
      await watchRun(runId, { ...options, json: options.json ?? context.columns === undefined }, context)
    })
}

/**
 * Follows a run of a running service from its first event to its end, and reports it. It starts nothing, and the run
 * continues when it is no longer watched. RUN_001 for an unknown run, before anything is written.
 */
async function watchRun(
  runId: string,
  { json, events: categories, eventsTo: path }: WatchOptions & { json: boolean },
  context: CliContext,
): Promise<void> {
  const { client } = await runningService(context)
  await client.getRun(runId)
  const events = path === undefined ? undefined : await openLineFile(resolve(context.cwd, path))
  const progress = showProgress(runId, { json, categories, onLine: events?.add }, context)
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
  await reportRun({ state: progress.state(), run, patch }, { client, json, context })
}
