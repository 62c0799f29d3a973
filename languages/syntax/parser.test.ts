import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { draws, fc } from '#testing/fast-check.ts'
import type { Tree } from 'web-tree-sitter'
import { describe, expect, it } from 'vitest'
import { loadLanguage } from './parser.ts'

const python = await loadLanguage('python')
const folder = join(import.meta.dirname, '../../examples/inventory/src/inventory')
const nested =
  'class A:\n    def f(self):\n        if x:\n            return [\n                f"ä{y!r:>{w}}",  # why\n            ]\n' +
  '        else:\n            pass\n\n    @staticmethod\n    def g(): ...\n\n\nmatch x:\n    case [1, *_]:\n        print("😀")\n'
const sources = [
  ...readdirSync(folder)
    .filter((name) => name.endsWith('.py'))
    .map((name) => readFileSync(join(folder, name), 'utf8')),
  nested,
  nested.replaceAll('\n', '\r\n'),
  nested.replaceAll('    ', '\t'),
]

/** Every node with its place, in order. */
function nodesOf(tree: Tree): string {
  const nodes: string[] = []
  const cursor = tree.walk()
  for (;;) {
    const { nodeType, nodeIsMissing, startIndex, endIndex, startPosition, endPosition } = cursor
    nodes.push(
      [nodeType, nodeIsMissing, startIndex, endIndex, ...pointOf(startPosition), ...pointOf(endPosition)].join(),
    )
    if (cursor.gotoFirstChild()) continue
    while (!cursor.gotoNextSibling()) {
      if (cursor.gotoParent()) continue
      cursor.delete()
      return nodes.join('\n')
    }
  }
}

const pointOf = ({ row, column }: { row: number; column: number }) => [row, column]

describe('a text that was made of another by an edit', () => {
  const line = fc.constantFrom(
    '"""Do it.\n\n        Args:\n            row: The row.\n        """',
    '"""',
    'pass',
    '# why 😀',
    'import os, (',
    'if row:',
    'x = [',
    'return f"{row!r}"',
    '@',
    'def other(self):\n        ...',
    '',
  )
  const edit = fc.record({ at: fc.nat(), removed: fc.nat({ max: 12 }), indent: fc.constantFrom(0, 4, 8, 12), line })

  type Edit = { at: number; removed: number; indent: number; line: string }
  const edited = (source: string, { at, removed, indent, line: text }: Edit) => {
    const lines = source.split('\n')
    const start = at % lines.length
    return [...lines.slice(0, start), ' '.repeat(indent) + text, ...lines.slice(start + removed)].join('\n')
  }

  it('has the tree that the whole text has', () => {
    const some = fc.tuple(fc.constantFrom(...sources), fc.array(edit, { minLength: 1, maxLength: 3 }))
    fc.assert(
      fc.property(some, ([source, edits]) => {
        let text = source
        for (const change of edits) {
          const before = text
          text = edited(before, change)
          const whole = python.parse(text)
          expect(python.read(text, nodesOf, before)).toBe(nodesOf(whole))
          whole.delete()
        }
      }),
      { numRuns: draws(100) },
    )
  })
})
