import { AppError } from '#domain/error.ts'
import { OperationId } from '#domain/ids.ts'
import type { ApiClient } from '../api-client.ts'
import type { NodeDetail, OperationView, RunView } from '../api-views.ts'
import { nodePlace } from '../node-place.ts'
import { allOperations } from '../run/all-operations.ts'
import { escapeGlob, findNodeDetail } from '../run/find-node.ts'

type Client = Pick<ApiClient, 'getRun' | 'getNode' | 'listNodes' | 'listOperations'>
type Words = { place: string; agent: string | undefined; request: RunView['request'] }

/**
 * The id of the operation that `words` name: its id, or `[AGENT] PATH [NAME]`, or a node's id for the place. A path stands for
 * what was done on the file as a whole, or for the only operation in it. RUN_004 when there is none, or several, which are
 * then named.
 */
export async function findOperation(client: Client, runId: string, words: readonly string[]): Promise<string> {
  const named = words.join(' ')
  if (OperationId.safeParse(named).success) return named
  return idOfWork(client, runId, await readWords(client, runId, named))
}

/** The same, but for a path: all operations in that file, in the order of the plan. */
export async function findOperations(client: Client, runId: string, words: readonly string[]): Promise<string[]> {
  const named = words.join(' ')
  if (OperationId.safeParse(named).success) return [named]
  const read = await readWords(client, runId, named)
  const inFile = await operationsInFile(client, runId, read)
  return inFile.length > 0 ? inFile.map(({ operation_id: id }) => id) : [await idOfWork(client, runId, read)]
}

async function readWords(client: Pick<ApiClient, 'getRun'>, runId: string, named: string): Promise<Words> {
  const { request } = await client.getRun(runId)
  const [first = '', ...rest] = named.split(' ')
  const agent = rest.length > 0 && request.agents.includes(first) ? first : undefined
  return { place: agent === undefined ? named : rest.join(' '), agent, request }
}

async function idOfWork(client: Client, runId: string, words: Words): Promise<string> {
  const { agent } = words
  const node = await nodeOf(client, runId, words)
  const onNode = node.operations.filter((operation) => agent === undefined || operation.agent === agent)
  const inFile = onNode.length > 0 ? [] : await operationsInFile(client, runId, words)
  const [only, ...others] = [...onNode, ...inFile]
  if (only === undefined) throw withoutOperation(runId, node, agent)
  if (inFile.length > 1) throw severalInFile(words.place, inFile)
  if (others.length > 0) throw severalOperations(node, onNode)
  return only.operation_id
}

/** Of the agent, if one is named; none where the place is no path of a file with nodes. */
async function operationsInFile(client: Client, runId: string, { place, agent }: Words): Promise<OperationView[]> {
  const { nodes } = await client.listNodes(runId, { path: escapeGlob(place), limit: 1 })
  if (nodes[0]?.path !== place) return []
  const all = await allOperations(client, runId)
  return all.filter(({ node, agent: by }) => node.path === place && (agent === undefined || by === agent))
}

/** What is no node may have been meant for an agent: those there are, are named. */
async function nodeOf(
  client: Pick<ApiClient, 'getNode' | 'listNodes'>,
  runId: string,
  { place, request }: Words,
): Promise<NodeDetail> {
  try {
    return await findNodeDetail(client, runId, place)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'RUN_004') throw error
    throw new AppError('RUN_004', `${error.message}; its agents: ${request.agents.join(', ')}`, { cause: error })
  }
}

function withoutOperation(runId: string, node: NodeDetail, agent: string | undefined): AppError {
  const place = nodePlace(node.path, node.qualified_name)
  const others = node.operations.length === 0 ? '' : ` (${listed(node.operations)} did)`
  const nobody = agent === undefined ? 'no agent worked' : `${agent} did not work`
  return new AppError('RUN_004', `In run ${runId} ${nobody} on "${place}"${others}`)
}

function severalOperations(node: NodeDetail, found: NodeDetail['operations']): AppError {
  const place = nodePlace(node.path, node.qualified_name)
  return new AppError('RUN_004', `Several agents worked on "${place}": name one of ${listed(found)}, or its id`)
}

/** Of the operations in a file, as many as a person may choose from. */
const namedInFile = 5

function severalInFile(path: string, found: readonly OperationView[]): AppError {
  const shown = found.slice(0, namedInFile).map(({ agent, operation_id: id, node }) => {
    return `${agent} ${nodePlace(node.path, node.qualified_name)} (${id})`
  })
  const more = found.length > shown.length ? ` and ${found.length - shown.length} more` : ''
  return new AppError('RUN_004', `Several operations are in "${path}": name one of ${shown.join(', ')}${more}`)
}

function listed(operations: NodeDetail['operations']): string {
  return operations.map(({ agent, operation_id: id }) => `${agent} (${id})`).join(', ')
}
