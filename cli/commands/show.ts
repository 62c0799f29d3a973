import type { Command } from 'commander'
import type { OperationView, RunView } from '../api-views.ts'
import type { CliContext } from '../cli-context.ts'
import { clip } from '../progress/paint.ts'
import { formatSeconds } from '../progress/render-screen.ts'
import { reachService } from '../run/reach-service.ts'
import type { ApiClient } from '../api-client.ts'

type ShowOptions = { operations?: true; json?: true }

const pageSize = 500

/** `remora show RUN`: how a run stands or ended. */
export function addShowCommand(program: Command, context: CliContext): void {
  program
    .command('show')
    .description('show how a run stands, or how it ended')
    .argument('<run>', 'run id')
    .option('--operations', 'list every operation too')
    .option('--json', 'print one JSON document')
    .action(async (runId: string, options: ShowOptions) => {
      const service = await reachService({ workers: 0 }, context)
      try {
        const run = await service.client.getRun(runId)
        const operations = options.operations === true ? await allOperations(service.client, runId) : undefined
        const document = operations === undefined ? run : { ...run, operations }
        context.io.out(options.json ? `${JSON.stringify(document)}\n` : describe(run, operations ?? []))
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

function describe(run: RunView, operations: readonly OperationView[]): string {
  const counts = Object.entries(run.counts).filter(([, count]) => count > 0)
  const checks = Object.entries(run.checks).map(([check, { ok, total }]) => `${check} ${ok}/${total}`)
  const rows: [string, string][] = [
    ['run', run.run_id],
    ['status', `${run.status} (${run.phase})${run.error_code ? `: ${run.error_code} ${run.reason ?? ''}` : ''}`],
    ['agents', run.request.agents.join(', ')],
    ['accepted', run.accepted_at ?? ''],
    ['took', typeof run.duration_ms === 'number' ? formatSeconds(run.duration_ms) : 'not ended'],
    ['operations', counts.map(([status, count]) => `${count} ${status}`).join(', ')],
    ['checks', checks.join(', ')],
    ['conflicts', String(run.conflicts)],
  ]
  const failures = run.failures.map(
    (failure) => `  ${failure.error_code ?? ''}  ${failure.operation_id}  ${failure.reason ?? ''}`,
  )
  const lines = rows.map(([name, value]) => `${name.padEnd(11)} ${value}`)
  if (failures.length > 0) lines.push('failures', ...failures.map((line) => clip(line, 160)))
  return `${[...lines, ...operations.map(operationLine)].join('\n')}\n`
}

function operationLine(operation: OperationView): string {
  const { node, outcome } = operation
  const place = `${node.path} ${node.qualified_name}`
  return clip(
    `${operation.operation_id}  ${operation.status.padEnd(10)}  ${operation.agent}  ${place}  ${outcome?.summary ?? ''}`,
    200,
  )
}
