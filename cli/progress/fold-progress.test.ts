import { describe, expect, it } from 'vitest'
import { eventsOf, plannedRun, workedRun } from './events.fixture.ts'
import { foldProgress } from './fold-progress.ts'
import { emptyProgress, endedOperations, failedOperations, runningOperations } from './progress-state.ts'

const fold = (drafts: Parameters<typeof eventsOf>[0]) => eventsOf(drafts).reduce(foldProgress, emptyProgress('r1'))

describe('the progress of a run', () => {
  it('knows what was found and planned', () => {
    const state = fold(plannedRun)
    expect(state).toMatchObject({ status: 'running', phase: 'execution', files: 12, nodes: 40, total: 4 })
    expect(endedOperations(state)).toBe(0)
  })

  it('counts each operation once, however often it was tried', () => {
    const state = fold(workedRun)
    expect(endedOperations(state)).toBe(3)
    expect(failedOperations(state)).toBe(1)
    expect(runningOperations(state)).toBe(1)
    expect(state.agents['lint']).toEqual({
      running: 1,
      succeeded: 1,
      unchanged: 0,
      skipped: 0,
      cancelled: 0,
      failed: 0,
      tokens: 1200,
      findings: 0,
      leftOut: 0,
      workMs: 1500,
    })
    expect(state.agents['docstring']).toMatchObject({ running: 0, skipped: 1, failed: 1 })
  })

  it('sums up what the operations of an agent have reported', () => {
    const ended = (id: string, findings?: number) => {
      return { event: 'operation.ended', operation_id: id, agent: 'review', data: { status: 'unchanged', findings } }
    }
    const state = fold([...plannedRun, ended('o1', 2), ended('o2'), ended('o3', 1)])
    expect(state.agents['review']).toMatchObject({ unchanged: 3, findings: 3 })
  })

  it('counts cancelled operations by themselves, running or not yet started: as neither failed nor skipped', () => {
    const atWork = { event: 'operation.ended', operation_id: 'o8', agent: 'lint', error_code: 'AGENT_010' }
    const waiting = { event: 'operation.skipped', operation_id: 'o9', agent: 'lint', error_code: 'AGENT_010' }
    const cancelled = [atWork, waiting].map((event) => ({ ...event, data: { status: 'cancelled' } }))
    const state = fold([...plannedRun, ...cancelled])
    expect(state.agents['lint']).toMatchObject({ cancelled: 2, failed: 0, skipped: 0 })
    expect(endedOperations(state)).toBe(2)
  })

  it('names each model that answered once', () => {
    expect(fold([...workedRun, ...workedRun]).models).toEqual(['rehearsal model (no LLM)'])
  })

  it('never goes back to an earlier phase', () => {
    const composed = { event: 'run.composed' }
    const late = { event: 'operation.started', operation_id: 'o5', agent: 'lint' }
    expect(fold([...plannedRun, composed, late]).phase).toBe('review')
  })

  it('ends as the run ends, with its error', () => {
    const failed = { event: 'run.failed', error_code: 'INTAKE_002', data: { reason: 'path leads out' } }
    expect(fold([...plannedRun.slice(0, 2), failed])).toMatchObject({
      status: 'failed',
      errorCode: 'INTAKE_002',
      reason: 'path leads out',
    })
    expect(fold([...plannedRun, { event: 'run.completed' }]).status).toBe('completed')
  })

  it('keeps what was passed over of the archive, then what of its files', () => {
    const git = { path: '.git', reason: "Git's own data" }
    const binary = { path: 'a.bin', reason: 'binary' }
    const stored = { event: 'snapshot.stored', data: { files: 1, skipped: 1, skipped_files: [git] } }
    const discovered = { event: 'nodes.discovered', data: { nodes: 1, skipped: 1, skipped_files: [binary] } }
    expect(fold([stored, discovered]).skippedFiles).toEqual([git, binary])
  })

  it('ignores events it does not know', () => {
    const before = fold(workedRun)
    const after = fold([...workedRun, { event: 'finding.reported', operation_id: 'o4', agent: 'lint' }])
    expect({ ...after, lastAtMs: before.lastAtMs }).toEqual(before)
  })
})
