import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { compileNodeQuery, type NodeQuery, nodesOfFile } from './node-query.ts'
import { loadQueryPacks } from './query-pack.ts'

let query: NodeQuery

beforeAll(async () => {
  const pack = (await loadQueryPacks()).get('python')
  if (pack === undefined) throw new Error('no python pack')
  query = await compileNodeQuery(pack)
})

function nodesOf(source: string) {
  return nodesOfFile({ path: 'a.py', bytes: new TextEncoder().encode(source), language: 'python', query })
}

const name = fc.constantFrom('f', 'g', 'H', 'é')
const functionText = name.map((f) => `def ${f}(x):\n    return x\n`)
const classText = fc
  .tuple(name, fc.array(name, { minLength: 1, maxLength: 3 }))
  .map(([c, methods]) => `class ${c}:\n${methods.map((m) => `    def ${m}(self):\n        return 1\n`).join('')}`)
const definition = fc.oneof(functionText, classText)
const filler = fc.constantFrom(
  '',
  '# a comment 😀\n',
  'x = [1,\n 2]\n',
  'if x:\n    y = 1\n',
  '\r\n\f\n',
  '"""text\n"""\n',
)
const file = fc.array(fc.tuple(filler, definition), { minLength: 1, maxLength: 6 })

describe('node ids', () => {
  it('stay the same under edits that touch no definition', () => {
    fc.assert(
      fc.property(file, fc.array(filler, { minLength: 6, maxLength: 6 }), (parts, others) => {
        const before = nodesOf(parts.map(([gap, text]) => gap + text).join(''))
        const after = nodesOf(parts.map(([gap, text], at) => gap + (others[at] ?? '') + text).join(''))
        const identity = (nodes: typeof before) => nodes.slice(1).map((node) => [node.nodeId, node.hash])
        expect(identity(after)).toEqual(identity(before))
      }),
      { numRuns: 200 },
    )
  })

  it('are never shared by two nodes, whatever their names', () => {
    fc.assert(
      fc.property(file, (parts) => {
        const ids = nodesOf(parts.map(([gap, text]) => gap + text).join('')).map((node) => node.nodeId)
        expect(new Set(ids).size).toBe(ids.length)
      }),
      { numRuns: 200 },
    )
  })

  it('tell equal names apart by their order in the source', () => {
    const pair = nodesOf('def f(): return 1\ndef f(): return 2\n').slice(1)
    const edited = nodesOf('def f(): return 3\nx = 1\ndef f(): return 4\n').slice(1)
    expect(edited.map((node) => node.nodeId)).toEqual(pair.map((node) => node.nodeId))
    expect(pair[0]?.nodeId).not.toBe(pair[1]?.nodeId)
  })

  it('stay the same when a node of the same name is added below', () => {
    const [, first] = nodesOf('def f(): pass\n')
    expect(nodesOf('def f(): pass\ndef f(): pass\n')[1]?.nodeId).toBe(first?.nodeId)
  })
})
