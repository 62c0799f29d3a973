import { type Command, Option } from 'commander'
import type { OperationView, RunView } from '../api-views.ts'
import type { NodeView } from '#domain/node-view.ts'
import type { CliContext } from '../cli-context.ts'
import { nodeLines } from '../node-lines.ts'
import { visible } from '../visible.ts'
import { allOperations } from '../run/all-operations.ts'
import { describeNode } from '../run/describe-node.ts'
import { describeQuestion } from '../run/describe-question.ts'
import { describeRun } from '../run/describe-run.ts'
import { findNode } from '../run/find-node.ts'
import { readQuestions } from '../run/read-questions.ts'
import { isIdle, reachRuns } from '../run/reach-service.ts'
import { waitingView } from '../run/waiting-view.ts'
import type { ApiClient } from '../api-client.ts'

/** `nodes` of a run's JSON is their number: the list is `code_nodes`. */
type ShowOptions = { operations?: true; nodes?: true; node?: string; json?: true }

const pageNodes = 1000
/** Of the operations, unless all are asked for: what went wrong first, then what there is a diff of. */
const shown = 20
const shownFirst = ['failed', 'blocked', 'succeeded'] as const

/** `remora show RUN`: how a run stands or ended. */
export function addShowCommand(program: Command, context: CliContext): void {
  program
    .command('show')
    .description('show the state of a run, or how it ended')
    .argument('<run>', 'run id')
    .option('--operations', `list every operation, not only ${shown}`)
    .option('--nodes', 'list the code nodes it found')
    .addOption(nodeOption())
    .option('--json', 'print one JSON document')
    .action(async (runId: string, options: ShowOptions) => {
      const service = await reachRuns(context)
      try {
        if (options.node !== undefined) {
          const found = await findNode(service.client, runId, options.node)
          const { node, edges } = found
          context.io.out(
            options.json
              ? `${JSON.stringify({ ...node, edge_list: edges ?? null })}\n`
              : visible(`${describeNode(found)}\n`),
          )
          return
        }
        const run = await service.client.getRun(runId)
        const all = options.operations === true ? await allOperations(service.client, runId) : undefined
        const nodes = options.nodes === true ? await allNodes(service.client, runId) : undefined
        const isWaiting = isIdle(service)
        if (options.json) {
          const view = { ...run, ...waitingView(run, isWaiting) }
          const lists = {
            ...(all === undefined ? {} : { operations: all }),
            ...(nodes === undefined ? {} : { code_nodes: nodes }),
          }
          context.io.out(`${JSON.stringify({ ...view, ...lists })}\n`)
        } else {
          const operations = all ?? (await firstOperations(service.client, runId))
          const { modelUrls } = context.config
          const manner = { isWaiting, width: context.columns ?? Infinity, modelUrls }
          context.io.out(visible(describeRun(run, operations, manner)))
          await showQuestions(run, service.client, context)
          if (nodes !== undefined) context.io.out(visible(['', ...nodeLines(nodes), ''].join('\n')))
        }
      } finally {
        await service.close()
      }
    })
}

/** What its operations wait for a person to answer. */
async function showQuestions(run: RunView, client: ApiClient, { io }: Pick<CliContext, 'io'>): Promise<void> {
  if ((run.counts['waiting'] ?? 0) === 0) return
  const questions = await readQuestions(client, run.run_id, { status: 'open' })
  io.out(visible(['', ...questions.map((question) => describeQuestion(run.run_id, question)), ''].join('\n')))
}

function nodeOption(): Option {
  return new Option('--node <node>', 'show one code node and its edges: its id, or "PATH NAME"').conflicts([
    'operations',
    'nodes',
  ])
}

async function allNodes(client: ApiClient, runId: string): Promise<NodeView[]> {
  const nodes: NodeView[] = []
  for (let cursor: string | undefined; ;) {
    const page = await client.listNodes(runId, { ...(cursor === undefined ? {} : { cursor }), limit: pageNodes })
    nodes.push(...page.nodes)
    if (page.next === null) return nodes
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
