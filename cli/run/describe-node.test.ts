import { expect, it } from 'vitest'
import type { EdgeView, NodeDetail } from '../api-views.ts'
import { describeNode } from './describe-node.ts'

const node: NodeDetail = {
  node_id: 'n0123456789abcdef',
  kind: 'function',
  name: 'rounded',
  qualified_name: 'rounded',
  path: 'shop/money.py',
  language: 'python',
  start_line: 6,
  end_line: 7,
  start_byte: 60,
  end_byte: 90,
  parent_id: null,
  hash: 'h',
  edges: { out: 0, in: 2 },
  operations: [{ operation_id: 'o1', agent: 'lint', status: 'unchanged' }],
}

function caller(name: string, over: Partial<EdgeView> = {}): EdgeView {
  const other = { node_id: 'nfedcba9876543210', kind: 'function', qualified_name: name, path: 'a.py' }
  return {
    direction: 'in',
    kind: 'calls',
    certainty: 'exact',
    node: { ...other, start_line: 3, end_line: 4 },
    ...over,
  }
}

it('tells what a node is, and under each kind of edge who is at the other end', () => {
  const edges = [caller('one'), caller('two', { certainty: 'by_name' }), caller('test_it', { kind: 'tests' })]
  expect(describeNode({ node, edges })).toBe(`node        shop/money.py rounded
id          n0123456789abcdef
kind        function, python, lines 6-7
operations  lint unchanged
edges       0 out, 3 in

called by
  3-4         a.py one
  3-4         a.py two  (by name)

tested by
  3-4         a.py test_it`)
})

it('lists fifty of a kind and counts the rest', () => {
  const lines = describeNode({ node, edges: Array.from({ length: 53 }, (_, at) => caller(`f${at}`)) }).split('\n')
  expect(lines.filter((line) => line.includes('a.py f'))).toHaveLength(50)
  expect(lines.at(-1)).toBe('  … and 3 more: --json lists all')
})

it('says that the edges of an older run were not stored', () => {
  expect(describeNode({ node: { ...node, edges: null }, edges: undefined })).toMatch(/^edges +not stored: /m)
})
