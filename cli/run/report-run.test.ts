import { describe, expect, it } from 'vitest'
import { anAgendaItem, aRun } from '../answers.fixture.ts'
import { emptyAgent, emptyProgress, type AgentProgress } from '../progress/progress-state.ts'
import { exitCodeOf } from './report-run.ts'

function ended(...agents: Partial<AgentProgress>[]) {
  const named = agents.map((agent, at) => [`agent${at}`, { ...emptyAgent(), ...agent }])
  return { ...emptyProgress('r1'), agents: Object.fromEntries(named) }
}

describe('the exit code of a run', () => {
  it.each([
    ['completed', [{ succeeded: 2 }], 0],
    ['completed', [{ unchanged: 2, skipped: 1 }], 0],
    ['completed', [], 0],
    ['completed', [{ failed: 2 }, { succeeded: 1 }], 3],
    ['completed', [{ failed: 2, unchanged: 1 }], 3],
    ['completed', [{ failed: 2 }, { failed: 1, skipped: 3 }], 1],
    ['failed', [{ succeeded: 2 }], 1],
    ['cancelled', [{ succeeded: 2 }], 1],
  ] as const)('of status %s with %j is %i', (status, agents, code) => {
    expect(exitCodeOf(aRun({ status }), ended(...agents))).toBe(code)
  })

  it('is 2 when the service did not know a language or a kind of nodes that was asked for', () => {
    const failed = (code: string) => aRun({ status: 'failed', error_code: code })
    const codes = ['DISC_003', 'RUN_002', 'INTAKE_007'].map((code) => exitCodeOf(failed(code), ended()))
    expect(codes).toEqual([2, 2, 1])
  })

  it('is 3 when a retry failed and its patch holds what went well before', () => {
    const state = { ...ended({ failed: 2 }), patchFiles: 1 }
    expect(exitCodeOf(aRun({ status: 'completed' }), state)).toBe(3)
    expect(exitCodeOf(aRun({ status: 'failed' }), { ...state, phase: 'review' })).toBe(3)
    expect(exitCodeOf(aRun({ status: 'failed' }), { ...ended({ failed: 2 }), phase: 'review' })).toBe(1)
  })

  it('is 3 when all went well and a change set was left out of the patch', () => {
    expect(exitCodeOf(aRun({ status: 'completed', conflicts: 1 }), ended({ succeeded: 2 }))).toBe(3)
  })

  it('is 3 when an item of the plan was blocked, unless a later one of its agent has done the work', () => {
    const run = aRun({ status: 'completed' })
    const blocked = anAgendaItem({ item_id: 'lint', status: 'blocked', decided_in: 8 })
    const later = anAgendaItem({ item_id: 'again', status: 'ended', decided_in: 9 })
    const codes = [[blocked], [blocked, { ...later, capability: 'docstring' }], [blocked, later]].map((items) =>
      exitCodeOf(run, ended({ succeeded: 1 }), { items }),
    )
    expect(codes).toEqual([3, 3, 0])
  })

  it('is 3 also when the service cannot read just now what was left out', () => {
    expect(exitCodeOf(aRun({ status: 'completed' }), ended({ succeeded: 2, leftOut: 1 }))).toBe(3)
  })
})
