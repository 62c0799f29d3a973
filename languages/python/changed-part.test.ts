import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Node, Tree } from 'web-tree-sitter'
import { describe, expect, it } from 'vitest'
import { draws, fc } from '#testing/fast-check.ts'
import { loadLanguage } from '../syntax/parser.ts'
import { type ChangedPart, readChangedParts } from './changed-part.ts'
import { codeIn } from './python-nodes.ts'

const python = await loadLanguage('python')
const folder = join(import.meta.dirname, '../../examples/inventory/src/inventory')
const sources = readdirSync(folder)
  .filter((name) => name.endsWith('.py'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .flatMap((text) => [text, text.replaceAll('\n', '\r\n')])

/** Every node of the statements, with its place. */
function nodesOf(statements: readonly Node[]): string[] {
  const nodes = [...statements]
  const found: string[] = []
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const { type, startIndex, endIndex, startPosition, endPosition } = node
    found.push([type, startIndex, endIndex, ...[startPosition, endPosition].flatMap(Object.values)].join())
    nodes.push(...node.children)
  }
  return found
}

/** The same statements in the tree of the whole text. */
function inWhole({ body }: ChangedPart, { rootNode }: Tree): Node[] {
  const statements = codeIn(body)
  const places = new Set(statements.map(({ startIndex, endIndex }) => `${startIndex} ${endIndex}`))
  const around = [rootNode, ...rootNode.descendantsOfType('block')]
  const same = around.map((whole) => codeIn(whole).filter((one) => places.has(`${one.startIndex} ${one.endIndex}`)))
  return same.find((found) => found.length === statements.length) ?? []
}

describe('the part in which two texts differ', () => {
  const line = fc.constantFrom(
    '"""Do it."""',
    'pass',
    '# why',
    'if x:',
    'else:',
    'x = [',
    'x = 1 \\',
    '@a',
    'def f(self):',
    ')',
    '',
  )
  const edit = fc.record({ at: fc.nat(), removed: fc.nat({ max: 3 }), indent: fc.constantFrom(0, 4, 8), line })

  it('has the trees that its statements have in the whole texts', () => {
    let read = 0
    fc.assert(
      fc.property(fc.constantFrom(...sources), edit, (before, { at, removed, indent, line: text }) => {
        const lines = before.split('\n')
        const start = at % lines.length
        const after = [...lines.slice(0, start), ' '.repeat(indent) + text, ...lines.slice(start + removed)].join('\n')
        const whole = [before, after].map((one) => python.parse(one))
        readChangedParts(python, [before, after], (...parts) => {
          for (const [side, part] of parts.entries()) {
            const tree = whole[side]
            if (tree === undefined) continue
            expect(nodesOf(inWhole(part, tree))).toEqual(nodesOf(codeIn(part.body)))
          }
          read += 1
          return true
        })
        for (const tree of whole) tree.delete()
      }),
      { numRuns: draws(500) },
    )
    expect(read).toBeGreaterThan(draws(500) / 3)
  })
})
