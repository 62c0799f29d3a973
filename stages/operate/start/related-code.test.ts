import { describe, expect, it } from 'vitest'
import type { EdgeDirection, EdgeKind, NodeEdge } from '#domain/code-node.ts'
import { nodeId } from '#domain/ids.ts'
import { WorkspaceFault } from '../workspace/open-workspace.ts'
import { closestEdges, relatedCode } from './start-context.ts'

const node = { path: 'src/shop.py', language: 'python', startLine: 10, endLine: 20 }

const files: Record<string, string> = {
  'src/util.py': `import re


class Money:
    @staticmethod
    def price(text: str) -> int:
        """Read a price."""

        return int(text)
`,
  'src/long.py': `def long(a):\n${Array.from({ length: 20 }, (_, at) => `    a += ${at}\n`).join('')}    return a\n`,
}

const workspace = {
  async readText(path: string): Promise<string> {
    const text = files[path]
    if (text === undefined) throw new WorkspaceFault('not-text', `${path} is not UTF-8 text`)
    return text
  },
}

type Other = {
  direction: EdgeDirection
  kind?: EdgeKind
  name: string
  lines?: [number, number]
  path?: string
  of?: string
}

function edge({
  direction,
  kind = 'calls',
  name,
  lines = [1, 2],
  path = 'src/util.py',
  of = 'function',
}: Other): NodeEdge {
  const identity = { path, kind: of, qualifiedName: name, ordinal: 0 }
  const [startLine, endLine] = lines
  const other = { nodeId: nodeId(identity), kind: of, qualifiedName: name, path, startLine, endLine }
  return { direction, kind, certainty: name.endsWith('?') ? 'by_name' : 'exact', node: other }
}

describe('code a node has to do with', () => {
  it('is what it needs before what needs it, each once, exact edges first', () => {
    const edges = [
      edge({ direction: 'in', name: 'caller' }),
      edge({ direction: 'out', name: 'maybe?' }),
      edge({ direction: 'out', name: 'called' }),
      edge({ direction: 'in', kind: 'tests', name: 'caller' }),
      edge({ direction: 'out', kind: 'inherits', name: 'Base' }),
    ]
    expect(closestEdges(node, edges).map((one) => one.node.qualifiedName)).toEqual([
      'Base',
      'called',
      'maybe?',
      'caller',
    ])
  })

  it('is neither whole files nor what its own text shows', () => {
    const edges = [
      edge({ direction: 'out', kind: 'imports', name: 'util.py', of: 'file' }),
      edge({ direction: 'out', name: 'inner', path: node.path, lines: [12, 14] }),
      edge({ direction: 'out', name: 'beside', path: node.path, lines: [1, 4] }),
    ]
    expect(closestEdges(node, edges).map((one) => one.node.qualifiedName)).toEqual(['beside'])
  })

  it('is shown by its first lines, without their common indentation', async () => {
    const price = edge({ direction: 'out', name: 'Money.price', lines: [5, 9], of: 'method' })
    const long = edge({ direction: 'in', name: 'long', lines: [1, 22], path: 'src/long.py' })
    expect(await relatedCode(node, [price, long], workspace, 4_000)).toEqual({
      excerpts: [
        {
          what: 'Calls method Money.price (src/util.py:5)',
          language: 'python',
          text: '@staticmethod\ndef price(text: str) -> int:\n    """Read a price."""\n    return int(text)',
        },
        {
          what: 'Called by function long (src/long.py:1)',
          language: 'python',
          text: 'def long(a):\n    a += 0\n    a += 1\n    a += 2\n    …',
        },
      ],
      more: 0,
    })
  })

  it('is read only as far as there is room, without files that are no text', async () => {
    const binary = edge({ direction: 'out', name: 'a', path: 'src/binary.py' })
    const prices = ['b', 'c', 'd'].map((name) => edge({ direction: 'out', name, lines: [5, 9] }))
    const { excerpts, more } = await relatedCode(node, [binary, ...prices], workspace, 60)
    expect(excerpts.map(({ what }) => what)).toEqual(['Calls function b (src/util.py:5)'])
    expect(more).toBe(2)
  })
})
