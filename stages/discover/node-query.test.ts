import { beforeAll, describe, expect, it, test } from 'vitest'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/ids.ts'
import { compileNodeQuery, type NodeQuery, nodesOfFile } from './node-query.ts'
import { loadQueryPacks } from './query-pack.ts'

let query: NodeQuery

beforeAll(async () => {
  const pack = (await loadQueryPacks()).get('python')
  if (pack === undefined) throw new Error('no python pack')
  query = await compileNodeQuery(pack)
})

function nodesOf(source: string | Uint8Array): CodeNode[] {
  const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source
  return nodesOfFile({ path: 'pkg/mod.py', bytes, language: 'python', query })
}

/** `kind qualified.name first-last line` of every node but the file. */
function outline(source: string | Uint8Array): string[] {
  const inside = nodesOf(source).filter((node) => node.kind !== 'file')
  return inside.map((node) => `${node.kind} ${node.qualifiedName} ${node.startLine}-${node.endLine}`)
}

const cases: { name: string; source: string; nodes: string[] }[] = [
  { name: 'a function', source: 'def f(a, b):\n    return a\n', nodes: ['function f 1-2'] },
  { name: 'an async function', source: 'async def f():\n    await g()\n', nodes: ['function f 1-2'] },
  {
    name: 'a method once, as a method only',
    source: 'class A:\n    def m(self):\n        pass\n',
    nodes: ['class A 1-3', 'method A.m 2-3'],
  },
  {
    name: 'decorators as part of what they decorate',
    source: '@one\n@two(3)\nclass A:\n    @property\n    async def m(self): ...\n\n@dec\ndef f(): ...\n',
    nodes: ['class A 1-5', 'method A.m 4-5', 'function f 7-8'],
  },
  {
    name: 'a function in a method as a function',
    source: 'class A:\n    def m(self):\n        def inner():\n            pass\n        return inner\n',
    nodes: ['class A 1-5', 'method A.m 2-5', 'function A.m.inner 3-4'],
  },
  {
    name: 'nested functions and classes under their qualified names',
    source: 'def outer():\n    class Local:\n        def m(self): pass\n    def inner(): pass\n',
    nodes: ['function outer 1-4', 'class outer.Local 2-3', 'method outer.Local.m 3-3', 'function outer.inner 4-4'],
  },
  {
    name: 'conditional definitions, in a class still as methods',
    source: 'if X:\n    def f(): pass\nelse:\n    def f(): pass\nclass A:\n    if X:\n        def m(self): pass\n',
    nodes: ['function f 2-2', 'function f 4-4', 'class A 5-7', 'method A.m 7-7'],
  },
  { name: 'no lambda', source: 'f = lambda x: x\ng = [lambda: 1]\n', nodes: [] },
  {
    name: 'no comment that trails behind the last statement',
    source:
      'class A:\n    def m(self):\n        return 1\n        # still indented\n\n    # between\n# outside\nx = 1\n',
    nodes: ['class A 1-3', 'method A.m 2-3'],
  },
  {
    name: 'a last statement over several lines to its end',
    source: 'def f():\n    """Doc."""\n    return g(\n        1,\n    )  # why\n\n\ndef g(): return """\na\n"""\n',
    nodes: ['function f 1-5', 'function g 8-10'],
  },
  {
    name: 'what parses around a syntax error',
    source: 'def good():\n    pass\n\ndef bad(:\n    pass\n\nclass After:\n    def m(self): pass\n',
    nodes: ['function good 1-2', 'class After 7-8', 'method After.m 8-8'],
  },
  {
    name: 'definitions after a form feed',
    source: '\fdef f():\n    pass\n\f\ndef g(): pass\n',
    nodes: ['function f 1-2', 'function g 4-4'],
  },
  {
    name: 'lines that end with CRLF',
    source: 'def f():\r\n    pass\r\n\r\ndef g():\r\n    pass\r\n',
    nodes: ['function f 1-2', 'function g 4-5'],
  },
  { name: 'a file that ends without a line feed', source: 'def f():\n    pass', nodes: ['function f 1-2'] },
  { name: 'nothing in an empty file', source: '', nodes: [] },
]

describe('the python pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(outline(source)).toEqual(nodes)
  })

  it('gives every file its file node, first, over all bytes', () => {
    const bytes = new TextEncoder().encode('x = 1\ny = 2\n')
    expect(nodesOf(bytes)).toEqual([
      expect.objectContaining({
        kind: 'file',
        name: 'mod.py',
        qualifiedName: 'pkg/mod.py',
        startLine: 1,
        endLine: 2,
        startByte: 0,
        endByte: 12,
        parentId: null,
        hash: sha256(bytes),
      }),
    ])
  })

  it('names the nearest enclosing node as the parent, and the file at the top', () => {
    const [file, cls, method, inner] = nodesOf('class A:\n    def m(self):\n        def inner(): pass\n')
    expect([cls?.parentId, method?.parentId, inner?.parentId]).toEqual([file?.nodeId, cls?.nodeId, method?.nodeId])
  })
})

describe('byte offsets', () => {
  const second = 'def g():\n    return "ä😀"'
  const texts = {
    'a byte order mark': `\uFEFF# x\n${second}\n`,
    'emoji and accents before': `# 😀é\nx = "𝔘"\n${second}\n`,
    CRLF: `x = 1\r\n${second}\r\n`,
    'a form feed': `\f\n${second}\n`,
  }

  it.each(Object.entries(texts))('cut the node out of the stored bytes with %s', (_name, text) => {
    const bytes = new TextEncoder().encode(text)
    const [, node] = nodesOf(bytes)
    const cut = bytes.subarray(node?.startByte, node?.endByte)
    expect(new TextDecoder().decode(cut)).toBe(second)
    expect(node?.hash).toBe(sha256(cut))
  })
})

test('a name of up to 1,000 characters is whole, and a longer one is cut', () => {
  const named = (length: number) => nodesOf(`def ${'f'.repeat(length)}(): pass\n`)[1]?.name
  expect(named(1_000)).toBe('f'.repeat(1_000))
  expect(named(1_001)).toBe(`${'f'.repeat(1_000)}…`)
})
