import type { Command } from 'commander'
import type { OperationView, RunView } from '../api-views.ts'
import type { CliContext } from '../cli-context.ts'
import { hasEnded } from '../has-ended.ts'
import { clip } from '../progress/paint.ts'
import { formatSeconds } from '../format-seconds.ts'
import { nodePlace } from '../node-place.ts'
import { reachRuns } from '../run/reach-service.ts'
import type { ApiClient } from '../api-client.ts'

type ShowOptions = { operations?: true; json?: true }

const pageSize = 500
/** Of the operations, unless all are asked for: what went wrong first, then what there is a diff of. */
const shown = 20
const shownFirst = ['failed', 'blocked', 'succeeded'] as const
const lineWidth = 160

/** `remora show RUN`: how a run stands or ended. */
export function addShowCommand(program: Command, context: CliContext): void {
  program
    .command('show')
    .description('show how a run stands, or how it ended')
    .argument('<run>', 'run id')
    .option('--operations', `list every operation, not only ${shown}`)
    .option('--json', 'print one JSON document')
    .action(async (runId: string, options: ShowOptions) => {
      const service = await reachRuns(context)
      try {
        const run = await service.client.getRun(runId)
        const all = options.operations === true ? await allOperations(service.client, runId) : undefined
        if (options.json) context.io.out(`${JSON.stringify(all === undefined ? run : { ...run, operations: all })}\n`)
        else context.io.out(describe(run, all ?? (await firstOperations(service.client, runId))))
      } finally {
        await service.close()
      }
    })
}

async function allOperations(client: ApiClient, runId: string): Promise<OperationView[]> {
  const operations: OperationView[] = []
  for (let cursor: string | undefined; ;) {
    const page = await client.listOperations(runId, { ...(cursor === undefined ? {} : { cursor }), limit: pageSize })
    operations.push(...page.operations)
    if (page.next === null) return operations
    cursor = page.next
  }
}

/** At most `shown`: those of the statuses of `shownFirst`, in that order, then others in the order of the plan. */
async function firstOperations(client: ApiClient, runId: string): Promise<OperationView[]> {
  const found = new Map<string, OperationView>()
  for (const status of [...shownFirst, undefined]) {
    const page = await client.listOperations(runId, { ...(status === undefined ? {} : { status }), limit: shown })
    for (const operation of page.operations) found.set(operation.operation_id, operation)
    if (found.size >= shown) break
  }
  return [...found.values()].slice(0, shown)
}

function describe(run: RunView, operations: readonly OperationView[]): string {
  const counts = Object.entries(run.counts).filter(([, count]) => count > 0)
  const checks = Object.entries(run.checks).map(([check, { ok, total, with_errors: errors }]) =>
    errors === undefined ? `${check} ${ok}/${total}` : `${check} ${ok}/${total} (${errors} with errors as before)`,
  )
  const rows: [string, string][] = [
    ['run', run.run_id],
    ['status', statusOf(run)],
    ['agents', run.request.agents.join(', ')],
    ['accepted', run.accepted_at ?? ''],
    ['took', typeof run.duration_ms === 'number' ? formatSeconds(run.duration_ms) : 'not ended'],
    ['operations', counts.map(([status, count]) => `${count} ${status}`).join(', ')],
    ['checks', checks.join(', ')],
    ['conflicts', String(run.conflicts)],
  ]
  const lines = rows.map(([name, value]) => `${name.padEnd(11)} ${value}`)
  return `${[...lines, ...operationLines(run, operations)].join('\n')}\n`
}

function statusOf({ status, phase, error_code: code, reason }: RunView): string {
  return `${status}${hasEnded(status) ? '' : ` (${phase})`}${code ? `: ${code} ${reason ?? ''}` : ''}`
}

function operationLines(run: RunView, operations: readonly OperationView[]): string[] {
  if (operations.length === 0) return []
  const total = Object.values(run.counts).reduce((sum, count) => sum + count, 0)
  const more = total > operations.length ? [`… and ${total - operations.length} more: --operations lists all`] : []
  const agentWidth = Math.max(...operations.map(({ agent }) => agent.length))
  return ['', ...operations.map((operation) => operationLine(operation, agentWidth)), ...more]
}

function operationLine({ operation_id: id, status, agent, node, outcome }: OperationView, agentWidth: number): string {
  const why = outcome?.error_code === undefined ? outcome?.summary : `${outcome.error_code} ${outcome.reason ?? ''}`
  return clip(
    `${id}  ${status.padEnd(10)}  ${agent.padEnd(agentWidth)}  ${nodePlace(node.path, node.qualified_name)}  ${why ?? ''}`,
    lineWidth,
  )
}
