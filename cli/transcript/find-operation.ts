import { AppError } from '#domain/error.ts'
import { OperationId } from '#domain/ids.ts'
import type { ApiClient } from '../api-client.ts'
import type { NodeDetail, RunView } from '../api-views.ts'
import { nodePlace } from '../node-place.ts'
import { findNodeDetail } from '../run/find-node.ts'

/**
 * The id of the operation that `words` name: its id, or `[AGENT] PATH [NAME]`, or a node's id for the place. RUN_004 when
 * there is none, or several, which are then named.
 */
export async function findOperation(
  client: Pick<ApiClient, 'getRun' | 'getNode' | 'listNodes'>,
  runId: string,
  words: readonly string[],
): Promise<string> {
  const named = words.join(' ')
  if (OperationId.safeParse(named).success) return named
  const { request } = await client.getRun(runId)
  const [first = '', ...rest] = named.split(' ')
  const agent = rest.length > 0 && request.agents.includes(first) ? first : undefined
  const node = await nodeOf(client, runId, { place: agent === undefined ? named : rest.join(' '), request })
  const found = node.operations.filter((operation) => agent === undefined || operation.agent === agent)
  const [only, ...others] = found
  if (only === undefined) throw withoutOperation(runId, node, agent)
  if (others.length > 0) throw severalOperations(node, found)
  return only.operation_id
}

/** What is no node may have been meant for an agent: those there are, are named. */
async function nodeOf(
  client: Pick<ApiClient, 'getNode' | 'listNodes'>,
  runId: string,
  { place, request }: { place: string } & Pick<RunView, 'request'>,
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

function listed(operations: NodeDetail['operations']): string {
  return operations.map(({ agent, operation_id: id }) => `${agent} (${id})`).join(', ')
}
