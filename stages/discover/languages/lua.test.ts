import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const lua = await openOutline('lua')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'functions, global and local, in one another',
    source: 'function f(a)\n  local function inner() end\nend\nlocal function g() end\n',
    nodes: ['function f 1-3', 'function f.inner 2-2', 'function g 4-4'],
  },
  {
    name: 'functions and methods of tables',
    source: 'function M.open() end\nfunction M.sub.deep() end\nfunction M:close()\nend\n',
    nodes: ['function M.open 1-1', 'function M.sub.deep 2-2', 'method M:close 3-4'],
  },
  {
    name: 'functions that are assigned',
    source: 'local f = function() end\nM.open = function()\nend\nreturn { close = function() end }\n',
    nodes: ['function f 1-1', 'function M.open 2-3', 'function close 4-4'],
  },
  { name: 'no function without a name', source: 'run(function() end)\nlocal a, b = function() end, 1\n', nodes: [] },
  {
    name: 'what parses around a syntax error',
    source: 'function good() end\n\nlocal x = = 1\n\nfunction after() end\n',
    nodes: ['function good 1-1', 'function after 5-5'],
  },
  { name: 'lines that end with CRLF', source: '-- 😀\r\nfunction f()\r\nend\r\n', nodes: ['function f 2-3'] },
]

describe('the lua pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(lua.of(source)).toEqual(nodes)
  })

  it('tells nodes of one name apart', () => {
    const ids = lua.nodesOf('function f() end\nfunction f() end\n').map(({ nodeId }) => nodeId)
    expect(new Set(ids).size).toBe(3)
  })

  it('cuts a node out of its bytes behind a byte order mark and emoji', () => {
    const bytes = new TextEncoder().encode('\uFEFF-- 😀é\r\nlocal x = "𝔘"\r\nfunction f() return "😀" end\r\n')
    const node = lua.nodesOf(bytes).at(-1)
    expect(new TextDecoder().decode(bytes.subarray(node?.startByte, node?.endByte))).toBe(
      'function f() return "😀" end',
    )
  })
})
