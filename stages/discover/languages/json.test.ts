import { describe, expect, it } from 'vitest'
import { indexNodes } from '../node-query.ts'
import { openOutline } from './outline.fixture.ts'

const json = await openOutline('json')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'pairs and those one level below, no deeper',
    source:
      '{\n  "name": "x",\n  "scripts": {\n    "test": "vitest",\n    "deep": { "er": 1 }\n  },\n  "list": [{ "no": 1 }]\n}\n',
    nodes: ['key name 2-2', 'key scripts 3-6', 'key scripts.test 4-4', 'key scripts.deep 5-5', 'key list 7-7'],
  },
  {
    name: 'the key of no letters, as it is written',
    source: '{"": {"": 1}, "a\\"b\\"": 2}',
    nodes: ['key "" 1-1', 'key ""."" 1-1', 'key a\\"b\\" 1-1'],
  },
  {
    name: 'pairs among comments',
    source: '// c\n{\n  /* x */ "a": 1, // y\n  "b": 2\n}\n',
    nodes: ['key a 3-3', 'key b 4-4'],
  },
  { name: 'nothing in a list or a plain value', source: '[{"a": 1}]', nodes: [] },
  {
    name: 'what parses around a syntax error',
    source: '{\n  "a": {"x": 1},\n  "b": 1 2,\n  "c": 3\n}\n',
    nodes: ['key a 2-2', 'key a.x 2-2', 'key b 3-3', 'key c 4-4'],
  },
  {
    name: 'lines that end with CRLF',
    source: '{\r\n  "a": {\r\n    "b": 1\r\n  }\r\n}\r\n',
    nodes: ['key a 2-4', 'key a.b 3-3'],
  },
]

describe('the json pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(json.of(source)).toEqual(nodes)
  })

  it('takes the last commas of a tsconfig.json, as TypeScript does, and no other ones', () => {
    const brokenIn = (text: string) => indexNodes(new TextEncoder().encode(text), json.query).broken
    const settings = '{\n  "compilerOptions": { "lib": ["es6",], }, // all\n  "include": ["**/*.ts"],\n}\n'
    expect(json.of(settings)).toEqual(['key compilerOptions 2-2', 'key compilerOptions.lib 2-2', 'key include 3-3'])
    expect(brokenIn(settings)).toEqual([])
    expect(brokenIn('{\n  "a": [1,,],\n  "b": 2\n}')).toEqual(['a'])
  })

  it('tells nodes of one name apart', () => {
    const ids = json.nodesOf('{"a": 1, "a": 2}').map(({ nodeId }) => nodeId)
    expect(new Set(ids).size).toBe(3)
  })

  it('cuts a node out of its bytes behind a byte order mark and emoji', () => {
    const bytes = new TextEncoder().encode('\uFEFF{"😀é": "𝔘",\r\n"x": ["😀"]}\r\n')
    const node = json.nodesOf(bytes).at(-1)
    expect(new TextDecoder().decode(bytes.subarray(node?.startByte, node?.endByte))).toBe('"x": ["😀"]')
  })
})
