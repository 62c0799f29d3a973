import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const toml = await openOutline('toml')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'tables with their pairs',
    source: 'top = 1\n\n[package]\nname = "x"\nlist = [\n  1,\n]\n\n[profile.release]\nlto = true\n',
    nodes: ['table package 3-7', 'table profile.release 9-10'],
  },
  {
    name: 'names as they are written',
    source: '[tool."x.y"]\n[ a . b ]\n["q r"]\n',
    nodes: ['table tool."x.y" 1-1', 'table a . b 2-2', 'table "q r" 3-3'],
  },
  {
    name: 'arrays of tables, equal ones too',
    source: '[[bin]]\nname = "a"\n\n[[bin]]\nname = "b"\n[bin.x]\n',
    nodes: ['array_table bin 1-2', 'array_table bin 4-5', 'table bin.x 6-6'],
  },
  {
    name: 'no comment that stands before the next table',
    source: '[a]\nx = 1 # why\n\n# about b\n[b]\ny = 2\n',
    nodes: ['table a 1-2', 'table b 5-6'],
  },
  { name: 'no inline tables', source: 'x = { y = 1 }\na.b = 2\n', nodes: [] },
  {
    name: 'what parses around a syntax error',
    source: '[a]\nx = 1\n\n[b]\ny = = 2\n\n[c]\nz = 3\n',
    nodes: ['table a 1-2', 'table c 7-8'],
  },
  { name: 'lines that end with CRLF', source: '[a]\r\nx = 1\r\n\r\n[b]\r\n', nodes: ['table a 1-2', 'table b 4-4'] },
]

describe('the toml pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(toml.of(source)).toEqual(nodes)
  })

  it('tells nodes of one name apart', () => {
    const ids = toml.nodesOf('[[a]]\n[[a]]\n').map(({ nodeId }) => nodeId)
    expect(new Set(ids).size).toBe(3)
  })

  it('cuts a node out of its bytes behind a byte order mark and emoji', () => {
    const bytes = new TextEncoder().encode('\uFEFF# 😀é\r\n[a]\r\nx = "𝔘"\r\n')
    const node = toml.nodesOf(bytes).at(-1)
    expect(new TextDecoder().decode(bytes.subarray(node?.startByte, node?.endByte))).toBe('[a]\r\nx = "𝔘"')
  })
})
