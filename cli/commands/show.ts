import type { Command } from 'commander'
import type { OperationView } from '../api-views.ts'
import type { CliContext } from '../cli-context.ts'
import { visible } from '../visible.ts'
import { describeRun } from '../run/describe-run.ts'
import { isIdle, reachRuns } from '../run/reach-service.ts'
import { waitingView } from '../run/waiting-view.ts'
import type { ApiClient } from '../api-client.ts'

type ShowOptions = { operations?: true; json?: true }

const pageSize = 500
/** Of the operations, unless all are asked for: what went wrong first, then what there is a diff of. */
const shown = 20
const shownFirst = ['failed', 'blocked', 'succeeded'] as const

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
        const isWaiting = isIdle(service)
        const view = { ...run, ...waitingView(run, isWaiting) }
        if (options.json) context.io.out(`${JSON.stringify(all === undefined ? view : { ...view, operations: all })}\n`)
        else {
          const operations = all ?? (await firstOperations(service.client, runId))
          const { modelUrls } = context.config
          const manner = { isWaiting, width: context.columns ?? Infinity, modelUrls }
          context.io.out(visible(describeRun(run, operations, manner)))
        }
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
