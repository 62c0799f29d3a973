import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const bash = await openOutline('bash')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'functions in all their spellings',
    source: 'one() {\n  echo\n}\nfunction two {\n  echo\n}\nfunction three() ( echo )\nfour ()\n{\n  echo\n}\n',
    nodes: ['function one 1-3', 'function two 4-6', 'function three 7-7', 'function four 8-11'],
  },
  {
    name: 'names with other signs than letters',
    source: '_x() { :; }\na-b() { :; }\nns::run() { :; }\n',
    nodes: ['function _x 1-1', 'function a-b 2-2', 'function ns::run 3-3'],
  },
  {
    name: 'functions in functions and in conditions',
    source: 'outer() {\n  inner() { :; }\n}\nif true; then\n  late() { :; }\nfi\n',
    nodes: ['function outer 1-3', 'function outer.inner 2-2', 'function late 5-5'],
  },
  { name: 'no arrays, no subshells', source: 'x=(1 2)\n(echo)\ny=$(z)\n', nodes: [] },
  {
    name: 'no function in a here-document',
    source: 'cat <<EOF\nf() { :; }\nEOF\ng() { :; }\n',
    nodes: ['function g 4-4'],
  },
  {
    name: 'what parses before a syntax error',
    source: 'good() { :; }\nif then\nbad( {\n',
    nodes: ['function good 1-1'],
  },
  { name: 'lines that end with CRLF', source: '# 😀\r\nf() {\r\n  :\r\n}\r\n', nodes: ['function f 2-4'] },
]

describe('the bash pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(bash.of(source)).toEqual(nodes)
  })

  it('tells nodes of one name apart', () => {
    const ids = bash.nodesOf('f() { :; }\nf() { :; }\n').map(({ nodeId }) => nodeId)
    expect(new Set(ids).size).toBe(3)
  })

  it('cuts a node out of its bytes behind a byte order mark and emoji', () => {
    const bytes = new TextEncoder().encode('\uFEFF# 😀é\r\nx=𝔘\r\nf() { echo 😀; }\r\n')
    const node = bash.nodesOf(bytes).at(-1)
    expect(new TextDecoder().decode(bytes.subarray(node?.startByte, node?.endByte))).toBe('f() { echo 😀; }')
  })
})
