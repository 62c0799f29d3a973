import { beforeAll, describe, expect, it } from 'vitest'
import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/ids.ts'
import { type LoadedLanguage, loadLanguage } from '#languages/syntax/parser.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { baseOver } from './base-over.fixture.ts'
import { openBuiltLayer } from './built-layer.ts'
import { editsBetween } from '#change-sets/edits-between.ts'
import { movedNode } from './moved-node.ts'

const path = 'shop.py'
const text = `import os


@cached
def price(row):
    return row.price


class Shelf:
    def price(self):
        return 1
`
const first = '@cached\ndef price(row):\n    return row.price'
const method = 'def price(self):\n        return 1'

let python: LoadedLanguage
beforeAll(async () => {
  python = await loadLanguage('python')
})

function nodeOf(code: string, over: Partial<CodeNode> = {}): CodeNode {
  const startByte = Buffer.byteLength(text.slice(0, text.indexOf(code)))
  const { node } = aPlannedOperation('price')
  const range = { startByte, endByte: startByte + Buffer.byteLength(code) }
  const names = { name: 'price', qualifiedName: 'price', path }
  return { ...node, kind: 'function', language: 'python', ...names, ...range, ...over }
}

/** The code of the node after another operation has turned the file into `after`, and the lines it is on. */
async function codeAfter(after: string | undefined, node = nodeOf(first)) {
  const { operationId, node: other } = aPlannedOperation('lint')
  const base = { path, baseHash: sha256(text) }
  const change: ChangeSet['files'][number] =
    after === undefined
      ? { kind: 'delete', ...base }
      : { kind: 'edit', ...base, edits: editsBetween(Buffer.from(text), Buffer.from(after)) }
  const set = { changeSetId: 'c1', operationId, bundle: 'lint', nodeId: other.nodeId, files: [change], evidence: [] }
  const moved = movedNode(node, await openBuiltLayer(baseOver({ [path]: text }), [set]), python)
  if (moved === undefined || after === undefined) return undefined
  const bytes = Buffer.from(after).subarray(moved.startByte, moved.endByte)
  expect(moved.hash).toBe(sha256(bytes))
  expect(moved.nodeId).toBe(node.nodeId)
  return { code: bytes.toString(), lines: [moved.startLine, moved.endLine] }
}

describe('a node whose file others have changed', () => {
  it.each([
    ['lines above it go', text.replace('import os\n\n\n', ''), first, [1, 3]],
    ['a line with other characters comes above it', `# é\n${text}`, first, [5, 7]],
    ['text comes right before it', text.replace('@cached', 'x = 1\n\n\n@cached'), first, [7, 9]],
    ['its body changes', text.replace('row.price', 'row["price"]'), first.replace('row.price', 'row["price"]'), [4, 6]],
    ['its decorator goes', text.replace('@cached\n', ''), first.replace('@cached\n', ''), [4, 5]],
    ['it gets a decorator more', text.replace('@cached', '@wide\n@cached'), `@wide\n${first}`, [4, 7]],
    [
      'a statement follows at its end',
      text.replace('row.price\n', 'row.price\n    # end\n    print(1)\n'),
      `${first}\n    # end\n    print(1)`,
      [4, 8],
    ],
    ['what comes after it changes', text.replace('return 1', 'return 2'), first, [4, 6]],
  ])('is found when %s', async (_what, after, code, lines) => {
    expect(await codeAfter(after)).toEqual({ code, lines })
  })

  it('is gone when it is removed, renamed, turned into something else, or its file is deleted', async () => {
    expect(await codeAfter(text.replace(`${first}\n\n\n`, ''))).toBeUndefined()
    expect(await codeAfter(text.replace('def price(row)', 'def cost(row)'))).toBeUndefined()
    expect(await codeAfter(text.replace(first, 'price = lambda row: row.price'))).toBeUndefined()
    expect(await codeAfter(undefined)).toBeUndefined()
  })

  it('is not taken for another definition of its name', async () => {
    const node = nodeOf(method, { kind: 'method', qualifiedName: 'Shelf.price' })
    expect(await codeAfter(text.replace(`${first}\n\n\n`, ''), node)).toMatchObject({ code: method })
  })

  it('is the whole file where it is the file', async () => {
    const file = nodeOf(text, { kind: 'file', name: path, qualifiedName: path })
    expect(await codeAfter(`${text}x = 1\n`, file)).toEqual({ code: `${text}x = 1\n`, lines: [1, 12] })
  })

  it('of Python that is no definition is found in the same way', async () => {
    const imported = nodeOf('import os', { kind: 'import', name: 'os', qualifiedName: 'os' })
    expect(await codeAfter(text.replace('row.price', 'row["price"]'), imported)).toMatchObject({ code: 'import os' })
    expect(await codeAfter(text.replace('import os\n', ''), imported)).toBeUndefined()
    const statement = nodeOf('return row.price', { kind: 'statement' })
    const after = text.replace('import os\n\n\n', '').replace('row.price', 'row["price"]')
    expect(await codeAfter(after, statement)).toEqual({ code: 'return row["price"]', lines: [3, 3] })
  })

  it('of another language has its range where the changes have moved it, as long as its name is in it', async () => {
    const node = nodeOf(first, { language: 'ruby' })
    expect(await codeAfter(text.replace('import os\n', ''), node)).toMatchObject({ code: first })
    expect(await codeAfter(text.replace(first, 'x = 1'), node)).toBeUndefined()
  })

  it('of which nothing is left is gone, also where its name was not in it', async () => {
    const node = nodeOf('import os\n', { language: 'ruby' })
    expect(await codeAfter(text.replace('import os\n', ''), node)).toBeUndefined()
  })
})
