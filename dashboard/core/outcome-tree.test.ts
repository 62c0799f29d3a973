import { expect, test } from 'vitest'
import { type OperationRow, type OperationStatus, openOutcomeTree, type TreeRow } from './outcome-tree.ts'

function operation(id: string, path: string, name: string, status: OperationStatus = 'pending'): OperationRow {
  return {
    id,
    path,
    name,
    status,
    agent: 'lint',
    code: undefined,
    durationMs: undefined,
    tokens: 0,
    endedAt: undefined,
  }
}

const words = (rows: readonly TreeRow[]) => rows.map(({ depth, name }) => `${'  '.repeat(depth)}${name}`)
const all = new Set(['src', 'src/a.py', 'src/deep', 'src/deep/b.py'])

test('shows folders before files, and what is open', () => {
  const tree = openOutcomeTree()
  tree.set(operation('1', 'src/a.py', 'f'))
  tree.set(operation('2', 'src/deep/b.py', 'g'))
  tree.set(operation('3', 'src/a.py', 'a.py'))
  expect(words(tree.rows({ open: new Set() }))).toEqual(['src'])
  expect(words(tree.rows({ open: all }))).toEqual([
    'src',
    '  deep',
    '    b.py',
    '      g',
    '  a.py',
    '    (the file)',
    '    f',
  ])
})

test('counts what is in it by status, and moves an operation from one to the other', () => {
  const tree = openOutcomeTree()
  const first = operation('1', 'src/a.py', 'f')
  tree.set(first)
  tree.set(operation('2', 'src/a.py', 'g', 'succeeded'))
  tree.set({ ...first, status: 'failed' }, first)
  expect(tree.rows({ open: new Set() })[0]?.counts).toEqual({ pending: 0, failed: 1, succeeded: 1 })
})

test('a definition has the operations of all its agents', () => {
  const tree = openOutcomeTree()
  tree.set(operation('1', 'a.py', 'f'))
  tree.set({ ...operation('2', 'a.py', 'f'), agent: 'docstring' })
  const row = tree.rows({ open: new Set(['a.py']) })[1]
  expect(row?.operations.map(({ agent }) => agent)).toEqual(['lint', 'docstring'])
})

test('shows only what has a status that is asked for', () => {
  const tree = openOutcomeTree()
  tree.set(operation('1', 'src/a.py', 'f', 'failed'))
  tree.set(operation('2', 'src/b.py', 'g', 'succeeded'))
  expect(words(tree.rows({ open: all, statuses: ['failed', 'blocked'] }))).toEqual(['src', '  a.py', '    f'])
})

test('begins with the folders that lead to a choice', () => {
  const tree = openOutcomeTree()
  tree.set(operation('1', 'src/deep/a.py', 'f'))
  tree.set(operation('2', 'src/deep/b.py', 'g'))
  expect(tree.firstOpen()).toEqual(['src', 'src/deep'])
})

test('hostile names stay names', () => {
  const tree = openOutcomeTree()
  tree.set(operation('1', '__proto__/constructor', '<img src=x>'))
  expect(words(tree.rows({ open: new Set(['__proto__', '__proto__/constructor']) }))).toEqual([
    '__proto__',
    '  constructor',
    '    <img src=x>',
  ])
})
