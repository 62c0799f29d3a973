import { z } from 'zod'
import type { EventView } from '#schemas/event-schema.ts'

type EventDraft = {
  event: string
  operation_id?: string
  agent?: string
  duration_ms?: number
  error_code?: string
  data?: Record<string, unknown>
  atMs?: number
}

/** Events as the API sends them: numbered from 1, `atMs` after noon. */
export function eventsOf(drafts: readonly EventDraft[]): EventView[] {
  const noon = Date.parse('2026-01-01T12:00:00Z')
  return drafts.map(({ atMs = 0, data = {}, ...event }, index) =>
    z.custom<EventView>().parse({ ...event, seq: index + 1, ts: new Date(noon + atMs).toISOString(), data }),
  )
}

export const plannedRun: readonly EventDraft[] = [
  { event: 'run.accepted' },
  { event: 'run.started' },
  { event: 'snapshot.stored', data: { files: 12 } },
  { event: 'nodes.discovered', data: { nodes: 40 } },
  { event: 'run.planned', data: { operations: 4 } },
]

/** One of each ending that matters, the first tried twice. */
export const workedRun: readonly EventDraft[] = [
  ...plannedRun,
  { event: 'operation.started', operation_id: 'o1', agent: 'lint' },
  { event: 'operation.retried', operation_id: 'o1', agent: 'lint', data: { reason: 'lost' } },
  { event: 'operation.started', operation_id: 'o1', agent: 'lint' },
  { event: 'model.responded', operation_id: 'o1', agent: 'lint', data: { model: 'rehearsal model (no LLM)' } },
  { event: 'change_set.created', operation_id: 'o1', agent: 'lint' },
  {
    event: 'operation.ended',
    operation_id: 'o1',
    agent: 'lint',
    duration_ms: 1500,
    data: {
      status: 'succeeded',
      summary: 'Fixed 2 faults.',
      turns: 1,
      tokens: 1200,
      path: 'src/a.py',
      qualified_name: 'Shelf.count',
    },
  },
  { event: 'operation.started', operation_id: 'o2', agent: 'docstring' },
  {
    event: 'operation.failed',
    operation_id: 'o2',
    agent: 'docstring',
    error_code: 'AGENT_002',
    data: { reason: 'down' },
  },
  {
    event: 'operation.ended',
    operation_id: 'o2',
    agent: 'docstring',
    duration_ms: 20,
    error_code: 'AGENT_002',
    data: { path: 'src/shop.py', qualified_name: 'shop.py', status: 'failed', reason: 'model server down', tokens: 0 },
  },
  { event: 'operation.skipped', operation_id: 'o3', agent: 'docstring', data: { cause: 'o2' } },
  { event: 'operation.started', operation_id: 'o4', agent: 'lint', atMs: 2500 },
]
