import type { AgentContext, EarlierResult } from './agent-context.ts'
import { textIn, type ContextEvent } from './context-event.ts'
import { openOwnTrack } from './own-track.ts'

export type ContextScope = {
  /** Whose context it is. Events that name no operation are taken for its own. */
  operationId?: string
  /** The nodes it has to do with, its own first, then the closest. Results on others are left out. */
  nodeIds?: readonly string[]
}

/**
 * The context of one operation out of events in their order: of the whole run, or any part of it. Nothing else goes into
 * it, so that the same events give the same context.
 */
export function foldContext(events: Iterable<ContextEvent>, scope: ContextScope = {}): AgentContext {
  const own = openOwnTrack()
  const results = new Map<string, EarlierResult>()
  const places = new Map(scope.nodeIds?.map((id, place) => [id, place]))
  for (const event of events) {
    if (event.operationId === undefined || event.operationId === scope.operationId) own.take(event)
    else if (event.event === 'operation.ended') {
      const place = places.get(event.nodeId ?? '')
      if (place !== undefined) results.set(`${place} ${event.agent}`, resultOf(event, place === 0))
    }
  }
  const placeOf = ({ nodeId }: EarlierResult) => places.get(nodeId) ?? 0
  const told = [...results.values()].filter(isWorthTelling)
  const longTrack = told.toSorted((one, other) => placeOf(one) - placeOf(other))
  return { ...own.folded(), longTrack }
}

const worked = new Set(['succeeded', 'failed', 'blocked'])

/**
 * Nothing was done in operations that were skipped or cancelled. That nothing had to be changed says something of the
 * operation's own node, and is noise from the others.
 */
function isWorthTelling({ node, status }: EarlierResult): boolean {
  return worked.has(status) || (status === 'unchanged' && node === undefined)
}

function resultOf({ agent, nodeId, data }: ContextEvent, isOwnNode: boolean): EarlierResult {
  const [name, path, code] = [textIn(data, 'qualified_name'), textIn(data, 'path'), textIn(data, 'error_code')]
  return {
    agent: agent ?? 'an agent',
    nodeId: nodeId ?? '',
    node: isOwnNode ? undefined : name === path ? path : `${name} (${path})`,
    status: textIn(data, 'status'),
    summary: textIn(data, 'reason') || textIn(data, 'summary'),
    ...(code === '' ? {} : { errorCode: code }),
  }
}
