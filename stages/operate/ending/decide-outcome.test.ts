import { describe, expect, it } from 'vitest'
import type { Evidence, FileChange } from '#domain/change-set.ts'
import type { ErrorCode } from '#domain/error.ts'
import type { Submission } from '#domain/turn.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { changeSetOf, decideOutcome } from './decide-outcome.ts'

const attempt = { ...aPlannedOperation('shelf'), repeats: null }
const change: FileChange = {
  kind: 'edit',
  path: 'a.py',
  baseHash: 'a'.repeat(64),
  edits: [{ start: 0, end: 1, text: '' }],
}
const good: Evidence = { check: 'parses', path: 'a.py', ok: true, tool: 't' }
const bad: Evidence = { ...good, check: 'comments_kept', ok: false, detail: 'it is gone' }

type Made = { changes?: FileChange[]; evidence?: Evidence[]; fixedFirst?: number }

function decided(status: Submission['status'], { changes = [change], evidence = [good], fixedFirst = 0 }: Made = {}) {
  const submission: Submission = { status, summary: 'done', changedFiles: [], details: {} }
  const ending = { kind: 'submitted' as const, submission, claimedUnchanged: [] }
  return decideOutcome(attempt, ending, { changes, evidence, model: 'm', fixedFirst })
}

function stopped(code: ErrorCode, reason = 'why') {
  const ending = { kind: 'stopped' as const, code, phase: 'model' as const, reason }
  return decideOutcome(attempt, ending, { changes: [change], evidence: [good], model: 'm', fixedFirst: 2 })
}

describe('how an operation ends', () => {
  it.each<[string, Submission['status'], Made]>([
    ['a change that is proved', 'success', {}],
    ['fixes made before it by a program, though the agent left the rest', 'skipped', { fixedFirst: 1 }],
    ['both', 'success', { fixedFirst: 1 }],
  ])('is success with %s', (_what, status, made) => {
    const { verdict, changeSet } = decided(status, made)
    expect(verdict).toEqual({ status: 'succeeded', summary: 'done' })
    expect(changeSet).toMatchObject({ operationId: attempt.operationId, files: [change], evidence: [good] })
  })

  it.each<[string, Submission['status'], Made]>([
    ['nothing was changed', 'success', { changes: [], evidence: [] }],
    ['the agent skipped it', 'skipped', {}],
    ['the agent skipped it and took the program’s fixes back', 'skipped', { changes: [], evidence: [], fixedFirst: 1 }],
  ])('is unchanged where %s', (_what, status, made) => {
    expect(decided(status, made)).toEqual({ verdict: { status: 'unchanged', summary: 'done' }, changeSet: null })
  })

  it.each<[string, Submission['status'], Made, string]>([
    ['its evidence is missing', 'success', { evidence: [good, bad] }, 'WORK_005'],
    ['that of a skipped one with fixes is', 'skipped', { evidence: [bad], fixedFirst: 1 }, 'WORK_005'],
    ['the agent says so', 'failed', { fixedFirst: 1 }, 'AGENT_011'],
  ])('is failure, without any change, where %s', (_what, status, made, errorCode) => {
    const { verdict, changeSet } = decided(status, made)
    expect(verdict).toMatchObject({ status: 'failed', errorCode, phase: 'submission' })
    expect(changeSet).toBeNull()
  })

  it('names a change by what it is built on, too: without that it is another one', () => {
    const idOn = (...builtOn: string[]) => {
      const onSnapshot = { files: [change], ...(builtOn.length > 0 && { builtOn }) }
      return changeSetOf(attempt, onSnapshot, { evidence: [] }).changeSetId
    }
    expect(new Set([idOn(), idOn('c1'), idOn('c1', 'c2')]).size).toBe(3)
    expect(idOn('c2', 'c1')).toBe(idOn('c1', 'c2'))
    expect(idOn()).toBe(decided('success').changeSet?.changeSetId)
  })

  it('is cancelled for a run that was, and failure for every other stop', () => {
    expect(stopped('AGENT_010')).toMatchObject({ verdict: { status: 'cancelled' }, changeSet: null })
    expect(stopped('AGENT_006')).toMatchObject({
      verdict: { status: 'failed', errorCode: 'AGENT_006' },
      changeSet: null,
    })
  })

  it('has a reason that is cut where a server wrote more than anybody reads', () => {
    const { verdict } = stopped('AGENT_002', 'x'.repeat(100_000))
    expect(verdict.summary).toHaveLength(500)
    expect(verdict.reason?.length).toBeLessThan(4_100)
  })
})
