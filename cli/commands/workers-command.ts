import type { Command } from 'commander'
import type { WorkerView } from '#schemas/worker-schema.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../terminal-text.ts'
import { withRuns } from '../run/reach-service.ts'
import { plural, shortTime } from '../wording.ts'

/** `remora workers`: the workers that live, with what they take and what they can reach. It needs the operator's token. */
export function addWorkersCommand(program: Command, context: CliContext): void {
  program
    .command('workers')
    .description('list the workers that live, with their slots and model servers')
    .option('--json', 'print one JSON document')
    .action(async ({ json }: { json?: true }) => {
      const page = await withRuns(context, ({ client }) => client.listWorkers())
      const lines = page.workers.length === 0 ? 'no worker lives\n' : page.workers.map(workerLines).join('')
      context.io.out(json ? `${JSON.stringify(page)}\n` : visible(lines))
    })
}

function workerLines(worker: WorkerView): string {
  const { worker_id: id, version, started_at: startedAt, slots, requests_waiting: waiting, models, servers } = worker
  const store = worker.object_store === null ? [] : [`  object store ${worker.object_store}`]
  const takes = slots === 0 ? 'takes nothing now' : `takes ${plural(slots, 'operation')}`
  const queue = waiting === 0 ? [] : [`${plural(waiting, 'request')} waiting for a server`]
  const since = `since ${shortTime(startedAt)}`
  const about = [id, takes, ...queue, `version ${version}`, since]
  const away = models.flatMap(({ model, away_since: at }) =>
    at ? `  model ${model}: away since ${shortTime(at)}` : [],
  )
  const at = servers.map(({ url, limit, max_in_flight: most }) => {
    const room =
      limit === 0
        ? 'gets no requests: it failed several times in a row, or is silent'
        : `${limit} of ${most} requests at once`
    return `  ${url}: ${room}`
  })
  return [about.join('  '), ...store, ...away, ...at].map((line) => `${line}\n`).join('')
}
