import { AppError, hasCode, undefinedOn } from '#domain/error.ts'
import { NodeId, OperationId } from '#domain/ids.ts'
import type { EdgeShape, NodeDetail } from '#schemas/node-schema.ts'
import type { OperationView } from '#schemas/operation-schema.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { allEdges, allNodes, allOperations } from '../api-lists.ts'
import { nodePlace } from '../wording.ts'

type NodeClient = Pick<ApiClient, 'getNode' | 'listNodes'>
type Client = NodeClient & Pick<ApiClient, 'getRun' | 'listOperations'>
type Words = { place: string; agent: string | undefined; request: RunView['request'] }

/**
 * The id of the operation that `words` name: its id, or `[AGENT] PATH [NAME]`, where a node's id may stand for the place.
 * A path alone is the operation on the file as a whole, or the only one in it. Of one that ran once more it is the second. RUN_004 when there is none, or when there are
 * several, which the message names.
 */
export async function findOperation(client: Client, runId: string, words: readonly string[]): Promise<string> {
  const named = words.join(' ')
  if (OperationId.safeParse(named).success) return named
  return idOfWork(client, runId, await readWords(client, runId, named))
}

/**
 * The same, except that a path stands for all operations in that file, in the order of the plan. Where each word is an id or a path, all of these are meant; RUN_004 where the
 * words together are `[AGENT] PATH [NAME]` as well.
 */
export async function findOperations(client: Client, runId: string, words: readonly string[]): Promise<string[]> {
  const each = words.length > 1 ? await operationsOfEach(client, runId, words) : undefined
  if (each === undefined) return operationsOfOne(client, runId, words)
  const together = await operationsOfOne(client, runId, words).catch(undefinedOn('RUN_004'))
  if (together === undefined) return each
  const named = words.join(' ')
  const both = `"${named}" may be all of ${words.length} files or operations, or one place`
  throw new AppError('RUN_004', `${both}: name them in commands of their own, or by ids (${together.join(', ')})`, {
    advised: true,
  })
}

/** Returns the operations of each word; undefined where one is neither an operation nor the path of a file. */
async function operationsOfEach(
  client: Client,
  runId: string,
  words: readonly string[],
): Promise<string[] | undefined> {
  const { request } = await client.getRun(runId)
  const lists: string[][] = []
  for (const word of words) {
    const ids = OperationId.safeParse(word).success
      ? [word]
      : await operationsAt(client, runId, { place: word, agent: undefined, request })
    if (ids === undefined) return undefined
    lists.push(ids)
  }
  return [...new Set(lists.flat())]
}

/** All in the file; undefined when the run has no nodes of it. */
async function operationsAt(client: Client, runId: string, words: Words): Promise<string[] | undefined> {
  if ((await hasFile(client, runId, words.place).catch(undefinedOn('RUN_004'))) !== true) return undefined
  const operations = await operationsInFile(client, runId, words)
  return operations.map(({ operation_id: id }) => id)
}

async function operationsOfOne(client: Client, runId: string, words: readonly string[]): Promise<string[]> {
  const named = words.join(' ')
  if (OperationId.safeParse(named).success) return [named]
  const read = await readWords(client, runId, named)
  const inFile = (await operationsInFile(client, runId, read).catch(undefinedOn('RUN_004'))) ?? []
  if (inFile.length > 0) return inFile.map(({ operation_id: id }) => id)
  const onNode = (await operationsOnNode(client, runId, read).catch(undefinedOn('RUN_004'))) ?? []
  const [only, ...others] = onNode
  if (only === undefined) return [await idOfWork(client, runId, read)]
  if (others.length > 0) throw severalOperations(read.place, onNode)
  return [only.operation_id]
}

async function operationsOnNode(
  client: NodeClient,
  runId: string,
  { place, agent }: Words,
): Promise<NodeDetail['operations']> {
  const { operations } = await findNodeDetail(client, runId, place)
  return operations.filter((one) => one.superseded_by === null && (agent === undefined || one.agent === agent))
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
  const isMeant = (one: NodeDetail['operations'][number]) => agent === undefined || one.agent === agent
  const onNode = node.operations.filter((one) => one.superseded_by === null && isMeant(one))
  const inFile = onNode.length > 0 ? [] : await operationsInFile(client, runId, words)
  const [only, ...others] = [...onNode, ...inFile]
  if (only === undefined) throw withoutOperation(runId, node, agent)
  if (inFile.length > 0 && others.length > 0) throw severalInFile(words.place, inFile)
  if (others.length > 0) throw severalOperations(nodePlace(node.path, node.qualified_name), onNode)
  return only.operation_id
}

async function hasFile({ listNodes }: Pick<Client, 'listNodes'>, runId: string, path: string): Promise<boolean> {
  const { nodes } = await listNodes(runId, { path: escapeGlob(path), limit: 1 })
  return nodes[0]?.path === path
}

/** Returns the operations in the file at `place`, of the agent if one is named, without those whose work is done once more; none for the path of no file. */
async function operationsInFile(client: Client, runId: string, { place, agent }: Words): Promise<OperationView[]> {
  if (!(await hasFile(client, runId, place))) return []
  const all = await Array.fromAsync(allOperations(client, runId))
  return all.filter(
    ({ node, agent: by, superseded_by: next }) =>
      next === null && node.path === place && (agent === undefined || by === agent),
  )
}

/** When there is no such node, the first word may have been meant as an agent: the message names the run's agents. */
async function nodeOf(client: NodeClient, runId: string, { place, request }: Words): Promise<NodeDetail> {
  try {
    return await findNodeDetail(client, runId, place)
  } catch (error) {
    if (!hasCode(error, 'RUN_004')) throw error
    const message = `${error.message}; its agents: ${request.agents.join(', ')}`
    throw new AppError('RUN_004', message, { cause: error, advised: error.advised })
  }
}

function withoutOperation(runId: string, node: NodeDetail, agent: string | undefined): AppError {
  const place = nodePlace(node.path, node.qualified_name)
  const others = node.operations.length === 0 ? '' : ` (${listed(node.operations)} did)`
  const nobody = agent === undefined ? 'no agent worked' : `${agent} did not work`
  return new AppError('RUN_004', `In run ${runId} ${nobody} on "${place}"${others}`)
}

function severalOperations(place: string, found: NodeDetail['operations']): AppError {
  return new AppError('RUN_004', `Several agents worked on "${place}": name one of ${listed(found)}, or its id`)
}

/** So many operations of a file are offered to choose from. */
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

export type NodeWithEdges = { node: NodeDetail; edges: EdgeShape[] }

/** The node `named`, as for `findNodeDetail`, with all its edges. */
export async function findNode(
  client: NodeClient & Pick<ApiClient, 'listEdges'>,
  runId: string,
  named: string,
): Promise<NodeWithEdges> {
  const node = await findNodeDetail(client, runId, named)
  return { node, edges: await Array.fromAsync(allEdges(client, runId, node.node_id)) }
}

/** The node by its id or as it is printed: `PATH` or `PATH NAME`. RUN_004 when there is none. */
async function findNodeDetail(client: NodeClient, runId: string, named: string): Promise<NodeDetail> {
  return client.getNode(runId, NodeId.safeParse(named).success ? named : await idOfPlace(client, runId, named))
}

/** The first of the nodes with that name. A path may contain spaces: all words are tried as the path, then fewer and fewer. */
async function idOfPlace(client: NodeClient, runId: string, named: string): Promise<string> {
  const words = named.split(' ')
  for (let end = words.length; end > 0; end--) {
    const path = words.slice(0, end).join(' ')
    if (path === '') continue
    for await (const node of allNodes(client, runId, { path: escapeGlob(path) })) {
      if (nodePlace(node.path, node.qualified_name) === named) return node.node_id
    }
  }
  const folder = named.replace(/\/+$/, '')
  const { nodes } = await client.listNodes(runId, { path: `${escapeGlob(folder)}/**`, limit: 1 })
  const advice =
    nodes.length > 0
      ? `it is a folder, of which accept, reject and undo take all changes with --where path='${folder}/**'`
      : 'give its id or "PATH NAME"; remora show RUN --nodes lists them'
  throw new AppError('RUN_004', `Run "${runId}" has no node "${named}": ${advice}`, { advised: true })
}

/** The API's filter takes globs. */
function escapeGlob(path: string): string {
  return path.replaceAll(/[*?[\]{}()!@+\\]/g, '\\$&')
}
