import type { Command } from 'commander'
import { AppError } from '#domain/error.ts'
import { RunId } from '#domain/ids.ts'
import type { CliContext } from '../cli-context.ts'
import { watchRun } from '../run/watch-run.ts'

type WatchOptions = { events?: string; json?: true }

/** `remora watch RUN`: what `remora run` shows, of a run that is there already. */
export function addWatchCommand(program: Command, context: CliContext): void {
  program
    .command('watch')
    .description('follow a run of a running service to its end; the exit codes are those of run')
    .argument('<run>', 'run id')
    .option('--events <file>', 'write every event to a file, one JSON line each')
    .option('--json', 'print events as JSON Lines, and the result as the last line')
    .action(async (run: string, options: WatchOptions) => {
      const { json = false, ...others } = options
      const runId = RunId.safeParse(run)
      if (!runId.success) throw new AppError('RUN_001', `There is no run "${run}".`)
      await watchRun({ runId: runId.data, json, ...others }, context)
    })
}
