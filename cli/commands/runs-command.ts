import type { Command } from 'commander'
import type { RunSummary } from '#schemas/run-schema.ts'
import type { CliContext } from '../cli-context.ts'
import { waitingText } from '../progress/describe-waiting.ts'
import { visible } from '../terminal-text.ts'
import { formatSeconds, plural, shownPath } from '../wording.ts'
import { resumeCommand } from '../run/unfinished-runs.ts'
import { isIdle, withRuns } from '../run/reach-service.ts'
import { waitingView } from '../run/describe-run.ts'
import { positiveUpTo } from './shared-options.ts'

/** `remora runs`: the latest runs, newest first. */
export function addRunsCommand(program: Command, context: CliContext): void {
  program
    .command('runs')
    .description('list runs, newest first')
    .option('--limit <count>', 'at most this many', positiveUpTo(100), 20)
    .option('--before <run>', 'only runs older than this one')
    .option('--json', 'print one JSON document')
    .action(async ({ limit, before, json }: { limit: number; before?: string; json?: true }) => {
      await withRuns(context, async (service) => {
        const page = await service.client.listRuns({ limit, before })
        const isWaiting = isIdle(service)
        const runs = page.runs.map((run) => ({ ...run, ...waitingView(run, isWaiting) }))
        context.io.out(json ? `${JSON.stringify({ ...page, runs })}\n` : visible(runLines(runs, context)))
      })
    })
}

type ListedRun = RunSummary & ReturnType<typeof waitingView>

function runLines(runs: readonly ListedRun[], { config, cwd }: CliContext): string {
  const place = config.apiUrl ?? shownPath(config.dataDir, cwd)
  if (runs.length === 0) return `no runs to show in ${place}\n`
  const waiting = runs.find((run) => run.waits_for_stack)
  const lines = runs.map((run) => `${runLine(run)}\n`).join('')
  if (waiting === undefined) return lines
  const resume = resumeCommand(waiting, config.modelUrls)
  return `${lines}Nothing works now on the runs that have not ended: "${resume}" continues one, "remora up" all of them.\n`
}

function runLine(run: ListedRun): string {
  const operations = Object.values(run.counts).reduce((total, count) => total + count, 0)
  const took = run.duration_ms === null ? '-' : formatSeconds(run.duration_ms)
  const when = run.accepted_at.slice(0, 19).replace('T', ' ')
  const failed = run.counts.failed + run.counts.blocked
  const waits = run.waits_for_stack ? '' : waitingText(run.waiting_for)
  const figures = `${plural(operations, 'operation')}, ${failed} failed${waits === '' ? '' : `, ${waits}`}`
  return `${run.run_id}  ${when}  ${run.status.padEnd(9)}  ${took.padStart(9)}  ${run.request.agents.join(',')}  ${figures}`
}
