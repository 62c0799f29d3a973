import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const yaml = await openOutline('yaml')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'keys and those one level below, no deeper',
    source:
      'name: ci\non:\n  push:\n    branches: [main]\n\njobs:\n  build:\n    steps:\n      - run: x\n\n  test: {needs: build}\n',
    nodes: [
      'key name 1-1',
      'key on 2-4',
      'key on.push 3-4',
      'key jobs 6-11',
      'key jobs.build 7-9',
      'key jobs.test 11-11',
    ],
  },
  {
    name: 'keys below in braces, none in a list',
    source: 'env: {A: 1, "B": {c: 2}}\nsteps:\n  - a: 1\n  - b: 2\n',
    nodes: ['key env 1-1', 'key env.A 1-1', 'key env.B 1-1', 'key steps 2-4'],
  },
  {
    name: 'keys without their quotation marks',
    source: '"a b": 1\n\'c\': 2\nd\': 3\n? e\n: 4\n&x f: 5\n"": 6\n',
    nodes: ['key a b 1-1', 'key c 2-2', "key d' 3-3", 'key e 4-5', 'key f 6-6', 'key "" 7-7'],
  },
  {
    name: 'the keys of every document',
    source: 'kind: A\nmetadata:\n  name: a\n---\nkind: B\n...\n---\n- list\n',
    nodes: ['key kind 1-1', 'key metadata 2-3', 'key metadata.name 3-3', 'key kind 5-5'],
  },
  {
    name: 'text over several lines to its end',
    source: 'run: |\n  one\n\n  two\n\n# about b\nb: 1\n',
    nodes: ['key run 1-4', 'key b 7-7'],
  },
  { name: 'nothing in a list', source: '- a: 1\n- b\n', nodes: [] },
  {
    name: 'what parses around a syntax error',
    source: 'a: 1\nb: [1, 2\nc: 3\n',
    nodes: ['key a 1-1', 'key b 2-2', 'key c 3-3'],
  },
  {
    name: 'lines that end with CRLF',
    source: '# 😀\r\na:\r\n  b: 1\r\n\r\nc: 2\r\n',
    nodes: ['key a 2-3', 'key a.b 3-3', 'key c 5-5'],
  },
]

describe('the yaml pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(yaml.of(source)).toEqual(nodes)
  })

  it('tells nodes of one name apart', () => {
    const ids = yaml.nodesOf('a: 1\n---\na: 2\n').map(({ nodeId }) => nodeId)
    expect(new Set(ids).size).toBe(3)
  })

  it('cuts a node out of its bytes behind a byte order mark and emoji', () => {
    const bytes = new TextEncoder().encode('\uFEFF# 😀é\r\nx: 𝔘\r\ny: ["😀"]\r\n')
    const node = yaml.nodesOf(bytes).at(-1)
    expect(new TextDecoder().decode(bytes.subarray(node?.startByte, node?.endByte))).toBe('y: ["😀"]')
  })
})
