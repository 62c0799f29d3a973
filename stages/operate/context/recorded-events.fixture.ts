import type { ContextEvent } from './fold-context.ts'

/** An operation on `Shop.total`, which calls `price`: see `recordedEvents`. */
export const scope = { operationId: 'o1', nodeIds: ['n1', 'n2'] }

const own = { operationId: 'o1', nodeId: 'n1', agent: 'docstring' }

function ended(agent: string, nodeId: string, data: Record<string, unknown>): ContextEvent {
  return { event: 'operation.ended', operationId: `${agent} ${nodeId}`, nodeId, agent, data }
}

function called(tool: string, id: string, args: unknown): ContextEvent {
  return { event: 'tool.called', ...own, toolName: tool, data: { call_id: id, arguments: JSON.stringify(args) } }
}

function returned(tool: string, id: string, summary: string, knowledge: Record<string, unknown> = {}): ContextEvent {
  const data = { call_id: id, outcome: 'success', summary, knowledge }
  return { event: 'tool.returned', ...own, toolName: tool, data }
}

/**
 * The events of a run while `docstring` works on `Shop.total`: another agent's results, an attempt that was lost after its
 * first call, and one that wrote at the second try and had its submission refused.
 */
export const recordedEvents: readonly ContextEvent[] = [
  ended('docstring', 'n2', {
    qualified_name: 'price',
    path: 'src/util.py',
    status: 'failed',
    summary: 'no submission within 8 turns',
    reason: 'no submission within 8 turns',
    error_code: 'AGENT_004',
  }),
  ended('docstring', 'n9', { qualified_name: 'stranger', path: 'src/far.py', status: 'succeeded', summary: 'done' }),
  ended('lint', 'n1', {
    qualified_name: 'Shop.total',
    path: 'src/shop.py',
    status: 'succeeded',
    summary: 'Applied 2 lint fixes; 1 diagnostic is left:\n  E501 in line 3.',
  }),
  { event: 'operation.started', ...own, data: { attempt: 1 } },
  called('read_docstring', 'c0', {}),
  { event: 'operation.retried', ...own, data: { attempt: 1, reason: 'lost' } },
  { event: 'operation.started', ...own, data: { attempt: 2 } },
  called('read_docstring', 'c0', {}),
  returned('read_docstring', 'c0', 'read the signature', { has_docstring: false, parameters: 2 }),
  called('write_docstring', 'c0', { docstring: '' }),
  {
    ...returned('write_docstring', 'c0', 'the docstring must not be empty'),
    status: 'error',
    errorCode: 'TOOL_002',
    data: { call_id: 'c0', outcome: 'error', summary: 'the docstring must not be empty' },
  },
  called('write_docstring', 'c1', { docstring: 'Add up what is in the shop.\n\nReturns:\n    The sum.' }),
  returned('write_docstring', 'c1', 'wrote the docstring', { has_docstring: true }),
  {
    event: 'submission.received',
    ...own,
    status: 'error',
    errorCode: 'AGENT_005',
    data: { turn: 3, refused: 'status: Invalid option (got "done")' },
  },
  called('read_docstring', 'c0', {}),
]
