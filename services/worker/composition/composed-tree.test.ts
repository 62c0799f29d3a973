import { expect, it } from 'vitest'
import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { readComposed } from './file-proofs.ts'

const { operationId, node } = aPlannedOperation('f')

function aSet(changeSetId: string, ...files: FileChange[]): ChangeSet {
  return { changeSetId, operationId, bundle: 'a', nodeId: node.nodeId, files, evidence: [] }
}

it('reads files as all change sets together make them, and the others as they are', async () => {
  const base: Record<string, string> = { 'a.py': 'one two\n', 'b.py': 'as it is\n', 'gone.py': 'x\n' }
  const edit = (start: number, end: number, text: string): FileChange => ({
    kind: 'edit',
    path: 'a.py',
    baseHash: 'a.py',
    edits: [{ start, end, text }],
  })
  const sets = [
    aSet('c1', edit(0, 3, '1')),
    aSet('c2', edit(4, 7, '2'), { kind: 'create', path: 'new.py', content: 'new\n' }),
    aSet('c3', { kind: 'delete', path: 'gone.py', baseHash: 'gone.py' }),
  ]
  const find = (path: string) =>
    base[path] === undefined ? undefined : { path, hash: path, size: 1, executable: false }
  const read = readComposed(sets, {
    known: new Map(),
    snapshot: async () => ({ find }),
    readBlob: async (hash) => Buffer.from(base[hash] ?? ''),
  })
  const texts = await Promise.all(['a.py', 'b.py', 'new.py', 'gone.py', 'none.py'].map(read))
  expect(texts).toEqual(['1 2\n', 'as it is\n', 'new\n', undefined, undefined])
})
