import { describe, expect, it, test } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { openOutline } from './outline.fixture.ts'

const { nodesOf } = await openOutline('python')

describe('the nodes of a file', () => {
  it('gives every file its file node, first, over all bytes', () => {
    const bytes = new TextEncoder().encode('x = 1\ny = 2\n')
    expect(nodesOf(bytes)).toEqual([
      expect.objectContaining({
        kind: 'file',
        name: 'mod',
        qualifiedName: 'pkg/mod',
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

test('a name of up to 1,000 characters is whole, and a longer one is cut', () => {
  const named = (length: number) => nodesOf(`def ${'f'.repeat(length)}(): pass\n`)[1]?.name
  expect(named(1_000)).toBe('f'.repeat(1_000))
  expect(named(1_001)).toBe(`${'f'.repeat(1_000)}…`)
})
