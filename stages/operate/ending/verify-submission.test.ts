import { describe, expect, it } from 'vitest'
import type { Evidence, FileChange } from '#domain/change-set.ts'
import { verifySubmission } from './verify-submission.ts'

const changed = (path: string): FileChange => ({ kind: 'create', path, content: '' })
const good: Evidence = { check: 'parses', path: 'src/a.py', ok: true, tool: 't' }
const linty: Evidence = { ...good, check: 'lint_before_after', ok: false, before: 0, after: 2 }

function verified(changedFiles: string[], changes: FileChange[], evidence: Evidence[] = [good]) {
  return verifySubmission({ changedFiles }, { changes, evidence })
}

describe('a claimed success', () => {
  it('holds when nothing was to be changed', () => {
    expect(verified([], [], [])).toEqual({ kind: 'holds' })
  })

  it('overstates when it names files and nothing was changed', () => {
    const reason = 'changed_files names src/a.py, not changed here (nothing was changed)'
    expect(verified(['src/a.py'], [], [])).toEqual({ kind: 'overstates', reason, claimedUnchanged: ['src/a.py'] })
  })

  it('gives both reasons, evidence first', () => {
    const both = verified(['b.py'], [changed('src/a.py')], [linty])
    expect(both).toMatchObject({ kind: 'fails', code: 'WORK_005' })
    expect(both).toMatchObject({ reason: expect.stringMatching(/^lint_before_after .*; changed_files names b\.py/) })
  })

  it('names no more than ten of many files', () => {
    const many = Array.from({ length: 40 }, (_, at) => `f${at}.py`)
    expect(verified(many, [])).toMatchObject({ reason: expect.stringContaining('f9.py, 30 more,') })
  })
})
