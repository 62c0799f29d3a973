import { describe, expect, it } from 'vitest'
import type { RunVerification } from '#stages/audit/verify-run.ts'
import { describeVerification, judgeVerification } from './verify-command.ts'

const violations: RunVerification['violations'] = [
  { invariant: 1, message: 'events 3 to 4 are missing' },
  { invariant: 2, message: 'operation o1 is running, its events say ready' },
  { invariant: 7, message: 'blob b1 is missing' },
]

describe('what counts of a verification', () => {
  it('is everything once the run has ended', () => {
    expect(judgeVerification({ ended: true, violations, events: 9, operations: 1 }).violations).toEqual(violations)
  })

  it('is only what work that goes on cannot seem to break while the run is under way', () => {
    const judged = judgeVerification({ ended: false, violations, events: 9, operations: 1 })
    expect(judged.violations.map(({ invariant }) => invariant)).toEqual([1, 7])
  })
})

describe('a verification in words', () => {
  it('counts one violation as one', () => {
    const found = { ended: true, violations: violations.slice(0, 1), events: 1, operations: 1 }
    expect(describeVerification('r1', found)).toBe(
      'r1: 1 event, 1 operation, 1 violation\n  1: events 3 to 4 are missing\n',
    )
  })

  it('says first that a run is under way, and what was judged', () => {
    expect(describeVerification('r1', { ended: false, violations: [], events: 9, operations: 2 })).toBe(
      `the run has not ended, so only what holds at every moment is checked: verify it again when it has
r1: 9 events, 2 operations, no violation of invariants 1 and 7
`,
    )
  })
})
