import { z } from 'zod'
import { operationStatuses } from '#domain/operation.ts'
import type { AgendaItemView } from '#schemas/agenda-schema.ts'
import type { ChangeView } from '#schemas/change-schema.ts'
import type { NodeDetail } from '#schemas/node-schema.ts'
import type { OperationView } from '#schemas/operation-schema.ts'
import type { RunView } from '#schemas/run-schema.ts'

// Answers of the API. What a test does not name has its usual value; the ids and texts that it names need not have their form.

type Named = Readonly<Record<string, unknown>>

export function answer<T extends object>(usual: T, named: Named): T {
  return z.custom<T>().parse({ ...usual, ...named })
}

const at = '2026-05-01T12:00:00.000Z'
const links = z.custom<RunView['links']>().parse({ self: '/v1/runs/r1' })

/** A run that goes on, of the agent lint. */
export function aRun({
  request = {},
  counts = {},
  ...named
}: Named & { request?: object; counts?: object } = {}): RunView {
  const asked = {
    agents: ['lint'],
    dry_run: false,
    error_policy: 'skip_downstream' as const,
    limits: {},
    priority: 5,
    labels: {},
  }
  const none = z.custom<RunView['counts']>().parse(Object.fromEntries(operationStatuses.map((status) => [status, 0])))
  return answer<RunView>(
    {
      run_id: 'r1',
      project_id: 'default',
      status: 'running',
      phase: 'execution',
      generation: 1,
      request: { ...asked, accept: 'none', ...request },
      repository: null,
      publication: null,
      counts: { ...none, ...counts },
      open_questions: 0,
      waiting_for: [],
      budget: { tokens: null, used: 0, used_by_agents: 0 },
      nodes: 0,
      files: 0,
      findings: 0,
      seq: 9,
      composing: null,
      environment: null,
      cancel_requested: false,
      accepted_at: at,
      ended_at: null,
      duration_ms: null,
      error_code: null,
      reason: null,
      links,
      current_step: 'works on operations',
      active_operations: [],
      active: { prepare: 0, slot: 0, model: 0, tool: 0, deferred: 0, proof: 0, person: 0 },
      model_requests: 0,
      tokens_in: 0,
      tokens_out: 0,
      last_minute: { operations: 0, tokens_in: 0, tokens_out: 0 },
      estimated_end: null,
      checks: {},
      answer: null,
      gate: null,
      conflicts: 0,
      funnel: [],
      left_out: [],
      accepted_left_out: 0,
      unread: [],
      skipped: 0,
      skipped_files: [],
      failures: [],
      retry_wanted: 0,
    },
    named,
  )
}

const node = {
  node_id: 'n1',
  kind: 'function',
  name: 'f',
  qualified_name: 'f',
  path: 'a.py',
  language: 'python',
  start_line: 1,
  end_line: 2,
  start_byte: 0,
  end_byte: 9,
  parent_id: null,
  hash: '',
}

/** A function on which nobody worked. */
export function aNode(named: Named = {}): NodeDetail {
  return answer<NodeDetail>({ ...node, children: [], edges: { out: 0, in: 0 }, operations: [] }, named)
}

/** An operation of lint that has no outcome yet. */
export function anOperation({ node: about = {}, ...named }: Named & { node?: object } = {}): OperationView {
  return answer<OperationView>(
    {
      operation_id: 'o1',
      run_id: 'r1',
      agent: 'lint',
      work: 'agent',
      bundle_hash: '',
      node: { ...node, ...about },
      status: 'succeeded',
      priority: 5,
      attempt: 1,
      lost: 0,
      dependencies_left: 0,
      starts_from: [],
      generation: 1,
      repeats: null,
      superseded_by: null,
      waits_for: null,
      item_id: null,
      started_at: at,
      ended_at: null,
      outcome: null,
    },
    named,
  )
}

/** A change set of lint on which nobody has decided. */
export function aChangeSet(named: Named): ChangeView {
  return answer<ChangeView>(
    {
      change_set_id: 'c1',
      operation_id: 'o1',
      agent: 'lint',
      node_id: 'n1',
      path: 'a.py',
      qualified_name: 'f',
      rules: [],
      built_on: [],
      needed_by: [],
      files: [],
      diff: '',
      evidence: [],
      generation: 1,
      is_redone: false,
      verdict: 'pending',
      decision: null,
    },
    named,
  )
}

/** An item of a plan that waits, of the agent lint. */
export const anAgendaItem = (item: Partial<AgendaItemView> & { item_id: string }): AgendaItemView => ({
  capability: 'lint',
  where: {},
  objective: 'clean it',
  success_criteria: [],
  depends_on: [],
  budget: {},
  priority: 5,
  status: 'waiting',
  retries: 0,
  counts: null,
  decided_in: 6,
  ...item,
})
