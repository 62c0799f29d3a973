import { type Command, Option } from 'commander'
import { undefinedOn } from '#domain/error.ts'
import type { OperationView } from '#schemas/operation-schema.ts'
import type { RunView } from '#schemas/run-schema.ts'
import { allNodes, allOperations, allQuestions } from '../api-lists.ts'
import type { ApiClient } from '../api-client.ts'
import type { CliContext } from '../cli-context.ts'
import { describeQuestion } from '../progress/describe-question.ts'
import { describeAgenda } from '../run/describe-agenda.ts'
import { describeNode, describeRun, waitingView } from '../run/describe-run.ts'
import { findNode } from '../run/find-operation.ts'
import { type Service, withRuns } from '../run/reach-service.ts'
import { reportView } from '../run/report-run.ts'
import { visible } from '../terminal-text.ts'
import { nodeLines } from '../wording.ts'

/** The JSON of a run has the number of its nodes as `nodes`; the list is `code_nodes`. */
type ShowOptions = { operations?: true; nodes?: true; node?: string; plan?: true; json?: true }

/** So many operations are shown unless all are asked for: first what went wrong, then what has a diff. */
const shown = 20
const shownFirst = ['failed', 'blocked', 'succeeded'] as const

export function addShowCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .option('--operations', `list every operation, not only ${shown}`)
    .option('--nodes', 'list the code nodes it found')
    .addOption(nodeOption())
    .addOption(planOption())
    .option('--json', 'print one JSON document')
    .action((runId: string, options: ShowOptions) =>
      withRuns(context, async (service) => {
        if (options.plan) return showPlan(runId, service, { options, context })
        if (options.node === undefined) return showRun(runId, service, { options, context })
        const { node, edges } = await findNode(service.client, runId, options.node)
        const document = { ...node, edge_list: edges }
        context.io.out(options.json ? `${JSON.stringify(document)}\n` : visible(`${describeNode({ node, edges })}\n`))
      }),
    )
}

function nodeOption(): Option {
  const meaning = 'show one code node and its edges: its id, or "PATH NAME"'
  return new Option('--node <node>', meaning).conflicts(['operations', 'nodes'])
}

function planOption(): Option {
  const meaning = 'show the plan of a run with an objective: what became of each item, and why'
  return new Option('--plan', meaning).conflicts(['operations', 'nodes', 'node'])
}

async function showPlan(runId: string, { client }: Service, { options, context }: Showing): Promise<void> {
  const agenda = await client.readAgenda(runId)
  context.io.out(options.json ? `${JSON.stringify(agenda)}\n` : describeAgenda(agenda, reportView(context)))
}

type Showing = { options: ShowOptions; context: CliContext }

async function showRun(runId: string, service: Service, { options, context }: Showing): Promise<void> {
  const { client } = service
  const { io, config, columns = Infinity } = context
  const run = await client.getRun(runId)
  const all = options.operations && (await Array.fromAsync(allOperations(client, runId)))
  const nodes = options.nodes && (await Array.fromAsync(allNodes(client, runId)))
  const isWaiting = service.isIdle
  if (options.json) {
    const lists = { ...(all && { operations: all }), ...(nodes && { code_nodes: nodes }) }
    return io.out(`${JSON.stringify({ ...run, ...waitingView(run, isWaiting), ...lists })}\n`)
  }
  const operations = (all ?? (await firstOperations(client, runId))).filter(
    (operation) => operation.superseded_by === null,
  )
  const plan =
    operations.length === 0 ? await client.readPlan(runId).catch(undefinedOn('RUN_004', 'STORE_002')) : undefined
  const agenda =
    run.request.objective === undefined
      ? undefined
      : await client.readAgenda(runId).catch(undefinedOn('STORE_002', 'STORE_003'))
  const display = { isWaiting, width: columns, modelUrls: config.modelUrls, plan, agenda }
  io.out(visible(describeRun(run, operations, display)))
  await showQuestions(run, client, context)
  if (nodes !== undefined) io.out(visible(['', ...nodeLines(nodes), ''].join('\n')))
}

/** Returns at most `shown`: those of the statuses of `shownFirst`, in that order, then others in the order of the plan. */
async function firstOperations(client: ApiClient, runId: string): Promise<OperationView[]> {
  const operations = new Map<string, OperationView>()
  for (const status of [...shownFirst, undefined]) {
    for await (const operation of status === undefined
      ? allOperations(client, runId)
      : firstOf(client, runId, status)) {
      if (operation.superseded_by === null) operations.set(operation.operation_id, operation)
      if (operations.size >= shown) break
    }
    if (operations.size >= shown) break
  }
  return [...operations.values()].slice(0, shown)
}

async function* firstOf(client: ApiClient, runId: string, status: OperationView['status']) {
  yield* (await client.listOperations(runId, { status, limit: shown })).operations
}

async function showQuestions(run: RunView, client: ApiClient, { io }: Pick<CliContext, 'io'>): Promise<void> {
  if (run.open_questions === 0) return
  const questions = await Array.fromAsync(allQuestions(client, run.run_id, 'open'))
  io.out(visible(['', ...questions.map((question) => describeQuestion(run.run_id, question)), ''].join('\n')))
}
