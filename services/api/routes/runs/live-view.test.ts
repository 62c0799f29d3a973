import { describe, expect, it } from 'vitest'
import { OperationId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { WaitingFor } from '#schemas/waiting-schema.ts'
import { endedRun } from './ended-run.fixture.ts'
import { liveView, nothingMoves } from './live-view.ts'

const start = Date.UTC(2026, 0, 1)
const now = start + 120_000
const zero = { ...endedRun.counts, succeeded: 0 }
const { counts: idle, lastMinute: none } = nothingMoves

type Counts = Partial<Run['counts']>
function runIn(phase: Run['phase'], counts: Counts = {}, more: Partial<Run> = {}): Run {
  return {
    ...endedRun,
    status: 'running',
    endedAt: null,
    acceptedAt: start,
    phase,
    counts: { ...zero, ...counts },
    ...more,
  }
}

const stepOf = (run: Run, active: Partial<typeof idle> = {}, waits: WaitingFor[] = []) =>
  liveView(run, { shown: [], counts: { ...idle, ...active }, lastMinute: none }, waits, now).current_step

describe('what a run does now', () => {
  it('is said in words for each phase', () => {
    const composing = { operationsRead: 40, operations: 40, filesProved: 3, files: 12 }
    expect([
      stepOf(runIn('snapshot', {}, { status: 'queued' })),
      stepOf(runIn('discovery')),
      stepOf(runIn('planning')),
      stepOf(runIn('execution', { ready: 1 })),
      stepOf(runIn('review')),
      stepOf(runIn('review', {}, { composing })),
      stepOf(runIn('review', {}, { composing: { ...composing, gateRuns: 2, gateMost: 9 } })),
      stepOf(runIn('review', {}, { status: 'completed' })),
    ]).toEqual([
      'waits until a discovery service takes it',
      'finds the code nodes',
      'plans the operations',
      'waits until a worker takes one of 1 operation',
      'waits until a worker composes its patch',
      'composes its patch: 3 of 12 files proved',
      'tries its patch: 2 of at most 9 runs of the gate',
      'has ended: completed',
    ])
  })

  it('is said of a run with an objective, also while nothing is planned', () => {
    const conductor = { kind: 'open' as const, version: 1, messages: 0, waits: null, planning: [] }
    const planning = [{ item_id: 'lint', version: 1, estimate: false }]
    expect([
      stepOf(runIn('execution', {}, { conductor })),
      stepOf(runIn('execution', {}, { conductor: { ...conductor, planning } })),
      stepOf(runIn('execution', { ready: 1 }, { conductor })),
    ]).toEqual([
      'decides what to do next',
      'plans the operations of lint',
      'waits until a worker takes one of 1 operation',
    ])
  })

  it('counts its active operations by what they do', () => {
    const step = stepOf(runIn('execution', { running: 12 }), { slot: 2, model: 8, tool: 1, proof: 1 })
    expect(step).toBe(
      'works on operations: 2 wait for a slot of the model servers, 8 wait for an answer of the model, 1 runs a tool, 1 is proved',
    )
  })

  it('says what it waits for only where nothing moves', () => {
    const waits: WaitingFor[] = [
      { kind: 'models', model: 'default', since: '2026-01-01T00:00:00.000Z', servers: [] },
      { kind: 'answer', questions: 2 },
    ]
    const run = runIn('execution', { ready: 3, waiting: 2 })
    expect(stepOf(run, {}, waits)).toBe('waits for the model and 2 answers')
    expect(stepOf(run, { tool: 1 }, waits)).toBe('works on operations: 1 runs a tool')
  })

  it('lists an active operation with what it does and since when', () => {
    const shown = {
      operationId: OperationId.parse('o0123456789abcdef'),
      bundle: 'lint',
      path: 'a.py',
      qualifiedName: 'f',
      nodeId: 'n1',
      attempt: 2,
      sinceMs: start,
      doing: { kind: 'tool' as const, what: 'edit_node', turn: 3, afterTool: true, sinceMs: start },
    }
    const view = liveView(
      runIn('execution'),
      { shown: [shown], counts: { ...idle, tool: 1 }, lastMinute: none },
      [],
      now,
    )
    expect(view.active_operations).toEqual([
      {
        operation_id: 'o0123456789abcdef',
        agent: 'lint',
        path: 'a.py',
        qualified_name: 'f',
        node_id: 'n1',
        status: 'running',
        attempt: 2,
        turn: 3,
        current_step: 'executing_tools',
        doing: 'tool',
        tool: 'edit_node',
        since: '2026-01-01T00:00:00.000Z',
      },
    ])
  })
})

describe('when a run ends', () => {
  const endOf = (run: Run, operations: number, waits: WaitingFor[] = []) =>
    liveView(run, { shown: [], counts: idle, lastMinute: { ...none, operations } }, waits, now).estimated_end

  it('is estimated from the last minute', () => {
    const end = endOf(runIn('execution', { pending: 50, running: 10, succeeded: 500 }), 30)
    expect(end).toEqual({
      at: new Date(now + 120_000).toISOString(),
      how: '60 operations left, 30 ended in the last 60 s; the composition of the patch comes after that',
    })
  })

  it('is estimated from its whole time where few ended in the last minute', () => {
    const end = endOf(runIn('execution', { pending: 10, succeeded: 5 }), 1)
    expect(end?.at).toBe(new Date(now + 240_000).toISOString())
    expect(end?.how).toContain('5 ended since the run began')
  })

  it('counts the time of a run that is younger than a minute', () => {
    const end = endOf(runIn('execution', { pending: 30, succeeded: 30 }, { acceptedAt: now - 15_000 }), 30)
    expect(end?.at).toBe(new Date(now + 15_000).toISOString())
  })

  it('is not guessed where too few have ended, it waits, or a reopened run has just begun', () => {
    const busy = runIn('execution', { pending: 4, succeeded: 9 })
    expect(endOf(runIn('execution', { pending: 40, succeeded: 4 }), 4)).toBeNull()
    expect(endOf(busy, 9, [{ kind: 'answer', questions: 1 }])).toBeNull()
    expect(endOf({ ...busy, generation: 2, reopenedAt: now - 1000 }, 0)).toBeNull()
  })
})
