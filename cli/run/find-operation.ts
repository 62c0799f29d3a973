import { AppError, hasCode, undefinedOn } from '#domain/error.ts'
import { NodeId, OperationId } from '#domain/ids.ts'
import { nodePlace } from '#domain/timeline/words.ts'
import type { EdgeShape, NodeDetail } from '#schemas/node-schema.ts'
import type { OperationView } from '#schemas/operation-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { allEdges, allNodes, allOperations } from '../api-lists.ts'

type NodeClient = Pick<ApiClient, 'getNode' | 'listNodes'>
type Client = NodeClient & Pick<ApiClient, 'getRun' | 'listOperations'>
type Words = { named: string; agent: string | undefined; agents: readonly string[] }

/**
 * Returns the id of the operation that `words` name: its id, or `[AGENT] PATH [NAME]`, where a node's id may stand for the last two.
 * A path alone is the operation on the file as a whole, or the only one in it. Of one that ran once more it is the second. RUN_004 when there is none, or when there are
 * several, which the message names.
 */
export async function findOperation(client: Client, runId: string, words: readonly string[]): Promise<string> {
  const text = words.join(' ')
  return isOperationId(text) ? text : idOfWork(client, runId, await readWords(client, runId, text))
}

/**
 * Returns the same, except that a path stands for all operations in that file, in the order of the plan. Where each word is an id or a path, all of these are meant; RUN_004 where the
 * words together are `[AGENT] PATH [NAME]` as well.
 */
export async function findOperations(client: Client, runId: string, words: readonly string[]): Promise<string[]> {
  const each = words.length > 1 ? await operationsOfEach(client, runId, words) : undefined
  if (each === undefined) return operationsOfOne(client, runId, words)
  const together = await operationsOfOne(client, runId, words).catch(undefinedOn('RUN_004'))
  if (together === undefined) return each
  const both = `"${words.join(' ')}" may be all of ${words.length} files or operations, or one place`
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
  const { agents } = (await client.getRun(runId)).request
  const ids = new Set<string>()
  for (const named of words) {
    const inFile = isOperationId(named) ? [named] : await idsInFile(client, runId, { named, agent: undefined, agents })
    if (inFile === undefined) return undefined
    for (const id of inFile) ids.add(id)
  }
  return [...ids]
}

async function operationsOfOne(client: Client, runId: string, words: readonly string[]): Promise<string[]> {
  const text = words.join(' ')
  if (isOperationId(text)) return [text]
  const read = await readWords(client, runId, text)
  const inFile = await idsInFile(client, runId, read)
  return inFile === undefined || inFile.length === 0 ? [await idOfWork(client, runId, read)] : inFile
}

function isOperationId(text: string): boolean {
  return OperationId.safeParse(text).success
}

async function readWords(client: Pick<ApiClient, 'getRun'>, runId: string, text: string): Promise<Words> {
  const { agents } = (await client.getRun(runId)).request
  const [first = '', ...rest] = text.split(' ')
  const agent = rest.length > 0 && agents.includes(first) ? first : undefined
  return { named: agent === undefined ? text : rest.join(' '), agent, agents }
}

async function idOfWork(client: Client, runId: string, words: Words): Promise<string> {
  const { named, agent } = words
  const node = await nodeOf(client, runId, words)
  const onNode = node.operations.filter(({ superseded_by: next, agent: by }) => next === null && isMeant(by, words))
  const inFile = onNode.length > 0 ? [] : ((await operationsInFile(client, runId, words)) ?? [])
  const [only, ...others] = [...onNode, ...inFile]
  const shown = nodePlace(node.path, node.qualified_name)
  if (only === undefined) {
    const did = node.operations.length === 0 ? '' : ` (${listed(node.operations)} did)`
    const nobody = agent === undefined ? 'no agent worked' : `${agent} did not work`
    throw new AppError('RUN_004', `In run ${runId} ${nobody} on "${shown}"${did}`)
  }
  if (others.length === 0) return only.operation_id
  if (inFile.length > 0) throw severalInFile(named, inFile)
  throw new AppError('RUN_004', `Several agents worked on "${shown}": name one of ${listed(onNode)}, or its id`)
}

function isMeant(by: string, { agent }: Words): boolean {
  return agent === undefined || by === agent
}

async function idsInFile(client: Client, runId: string, words: Words): Promise<string[] | undefined> {
  const operations = await operationsInFile(client, runId, words).catch(undefinedOn('RUN_004'))
  return operations?.map(({ operation_id: id }) => id)
}

/** Returns the operations in the file, of the agent if one is named, without those whose work is done once more; undefined for no file of the run. */
async function operationsInFile(client: Client, runId: string, words: Words): Promise<OperationView[] | undefined> {
  const { nodes } = await client.listNodes(runId, { path: escapeGlob(words.named), limit: 1 })
  if (nodes[0]?.path !== words.named) return undefined
  const all = await Array.fromAsync(allOperations(client, runId))
  return all.filter(
    ({ node, agent, superseded_by: next }) => next === null && node.path === words.named && isMeant(agent, words),
  )
}

/** When there is no such node, the first word may have been meant as an agent: the message names the run's agents. */
async function nodeOf(client: NodeClient, runId: string, { named, agents }: Words): Promise<NodeDetail> {
  try {
    return await findNodeDetail(client, runId, named)
  } catch (error) {
    if (!hasCode(error, 'RUN_004')) throw error
    const message = `${error.message}; its agents: ${agents.join(', ')}`
    throw new AppError('RUN_004', message, { cause: error, advised: error.advised })
  }
}

const namedInFile = 5

function severalInFile(path: string, operations: readonly OperationView[]): AppError {
  const shown = operations.slice(0, namedInFile).map(({ agent, operation_id: id, node }) => {
    return `${agent} ${nodePlace(node.path, node.qualified_name)} (${id})`
  })
  const more = operations.length > shown.length ? ` and ${operations.length - shown.length} more` : ''
  return new AppError('RUN_004', `Several operations are in "${path}": name one of ${shown.join(', ')}${more}`)
}

function listed(operations: NodeDetail['operations']): string {
  return operations.map(({ agent, operation_id: id }) => `${agent} (${id})`).join(', ')
}

export type NodeWithEdges = { node: NodeDetail; edges: EdgeShape[] }

/** Returns the node `named`, as for `findNodeDetail`, with all its edges. */
export async function findNode(
  client: NodeClient & Pick<ApiClient, 'listEdges'>,
  runId: string,
  named: string,
): Promise<NodeWithEdges> {
  const node = await findNodeDetail(client, runId, named)
  return { node, edges: await Array.fromAsync(allEdges(client, runId, node.node_id)) }
}

/** Returns the node by its id or as it is printed: `PATH` or `PATH NAME`. RUN_004 when there is none. */
async function findNodeDetail(client: NodeClient, runId: string, named: string): Promise<NodeDetail> {
  return client.getNode(runId, NodeId.safeParse(named).success ? named : await idOfPlace(client, runId, named))
}

/** Returns the first of the nodes with that name. A path may contain spaces: all words are tried as the path, then fewer and fewer. */
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
