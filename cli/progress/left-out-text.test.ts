import { expect, it } from 'vitest'
import { leftOutText } from './result-report.ts'

const set = {
  change_set_id: 'c2',
  operation_id: 'o2',
  agent: 'docstring',
  node: { path: 'src/a.py', qualified_name: 'f' },
  lines: { first: 12, last: 12 },
  path: 'src/b.py',
}
const lint = { change_set_id: 'c1', operation_id: 'o1', agent: 'lint', lines: { first: 12, last: 14 } }
const other = { ...lint, node: { path: 'src/a.py', qualified_name: 'a.py' } }

it.each([
  [
    'breaks a file together with another',
    { ...set, error_code: 'WORK_004', reason: 'parses fails', with: other } as const,
    'WORK_004  docstring o2 src/a.py f in src/b.py (line 12) breaks src/b.py together with lint o1 src/a.py in src/b.py (lines 12-14): parses fails',
  ],
  [
    'the tests of the run left out',
    { ...set, path: 'src/a.py', error_code: 'WORK_007', by_itself: true, reason: 'with it alone, b fails' } as const,
    'WORK_007  docstring o2 src/a.py f (line 12): with it alone, b fails',
  ],
  [
    'is known by its operation and file alone',
    {
      change_set_id: 'c2',
      operation_id: 'o2',
      path: 'a.py',
      error_code: 'WORK_001',
      reason: 'both change it',
    } as const,
    'WORK_001  o2 a.py: both change it',
  ],
])('a change set is said to be left out that %s', (_what, leftOut, text) => {
  expect(leftOutText(leftOut)).toBe(text)
})
