import type { Command } from 'commander'
import type { CliContext } from '../cli-context.ts'
import { runningService } from '../run/reach-service.ts'
import { submit } from '../run/run-once.ts'
import { commaList, positiveInteger } from './option-parsers.ts'

type SubmitOptions = { agents: string[]; paths?: string[]; limit?: number; json?: true }

/** `remora submit`: hands a folder to a running service and returns at once. */
export function addSubmitCommand(program: Command, context: CliContext): void {
  program
    .command('submit')
    .description('send a folder, a git checkout or an archive to a running service')
    .argument('[path]', 'what to work on', '.')
    .requiredOption('-a, --agents <names>', 'agents to run, separated by commas', commaList)
    .option('--paths <globs...>', 'only files that match one of these')
    .option('--limit <count>', 'at most so many operations', positiveInteger)
    .option('--json', 'print one JSON document')
    .action(async (path: string, options: SubmitOptions) => {
      const client = runningService(context)
      try {
        const runId = await submit(client, { path, accept: 'none', ...options }, context)
        context.io.out(options.json ? `${JSON.stringify({ run_id: runId, status: 'queued' })}\n` : `${runId}\n`)
      } finally {
        await client.close()
      }
    })
}
