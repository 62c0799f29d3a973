import { expect, it } from 'vitest'
import { leftOutText } from './result-report.ts'

const docstring = {
  change_set_id: 'c2',
  operation_id: 'o2',
  agent: 'docstring',
  node: { path: 'src/a.py', qualified_name: 'f' },
  lines: { first: 12, last: 12 },
}
const lint = {
  change_set_id: 'c1',
  operation_id: 'o1',
  agent: 'lint',
  node: { path: 'src/a.py', qualified_name: 'a.py' },
  lines: { first: 12, last: 14 },
}

it('names both operations, their code and their lines', () => {
  const set = { ...docstring, path: 'src/a.py', error_code: 'WORK_001' as const, reason: 'same place' }
  expect(leftOutText({ ...set, with: lint })).toBe(
    'WORK_001  docstring o2 src/a.py f (line 12) collides with lint o1 src/a.py (lines 12-14)',
  )
})

it('says which check fails of a file that it breaks, with the change set it breaks it with', () => {
  const set = {
    ...docstring,
    path: 'src/b.py',
    error_code: 'WORK_004' as const,
    reason: 'parses fails for the composed file',
  }
  expect(leftOutText({ ...set, with: lint })).toBe(
    'WORK_004  docstring o2 src/a.py f in src/b.py (line 12) breaks src/b.py together with lint o1 src/a.py in src/b.py (lines 12-14): parses fails for the composed file',
  )
})

it('says of what the tests of the run left out what they showed, and not that it breaks the file', () => {
  const set = { ...docstring, path: 'src/a.py', error_code: 'WORK_007' as const }
  expect(leftOutText({ ...set, by_itself: true as const, reason: 'with it alone, what passed before fails: b' })).toBe(
    'WORK_007  docstring o2 src/a.py f (line 12): with it alone, what passed before fails: b',
  )
  expect(leftOutText({ ...set, reason: "not proved: the run's gate ended before" })).toBe(
    "WORK_007  docstring o2 src/a.py f (line 12): not proved: the run's gate ended before",
  )
})

it('names a change set of which nothing else is known by its operation and the file', () => {
  const set = {
    change_set_id: 'c2',
    operation_id: 'o2',
    path: 'a.py',
    error_code: 'WORK_001' as const,
    reason: 'both change it',
  }
  expect(leftOutText(set)).toBe('WORK_001  o2 a.py: both change it')
})
