import type { Command } from 'commander'
import type { RunView } from '../api-views.ts'
import type { CliContext } from '../cli-context.ts'
import { formatSeconds } from '../format-seconds.ts'
import { plural } from '../plural.ts'
import { reachRuns } from '../run/reach-service.ts'
import { positiveUpTo } from './option-parsers.ts'

type RunsOptions = { limit: number; before?: string; json?: true }

/** `remora runs`: the latest runs, newest first. */
export function addRunsCommand(program: Command, context: CliContext): void {
  program
    .command('runs')
    .description('list runs, newest first')
    .option('--limit <count>', 'at most so many', positiveUpTo(100), 20)
    .option('--before <run>', 'only runs older than this one')
    .option('--json', 'print one JSON document')
    .action(async (options: RunsOptions) => {
      const service = await reachRuns(context)
      try {
        const { limit, before } = options
        const page = await service.client.listRuns({ limit, ...(before === undefined ? {} : { before }) })
        context.io.out(options.json ? `${JSON.stringify(page)}\n` : runLines(page.runs))
      } finally {
        await service.close()
      }
    })
}

function runLines(runs: readonly RunView[]): string {
  if (runs.length === 0) return 'no runs to show\n'
  return runs.map((run) => `${runLine(run)}\n`).join('')
}

function runLine(run: RunView): string {
  const operations = Object.values(run.counts).reduce((total, count) => total + count, 0)
  const took = typeof run.duration_ms === 'number' ? formatSeconds(run.duration_ms) : '-'
  const when = (run.accepted_at ?? '').slice(0, 19).replace('T', ' ')
  const failed = (run.counts['failed'] ?? 0) + (run.counts['blocked'] ?? 0)
  const figures = `${plural(operations, 'operation')}, ${failed} failed`
  return `${run.run_id}  ${when}  ${run.status.padEnd(9)}  ${took.padStart(9)}  ${run.request.agents.join(',')}  ${figures}`
}
