import { describe, expect, it } from 'vitest'
import type { ChangeSet, Edit, FileChange } from '#domain/change-set.ts'
import { changeSetId } from '#domain/ids.ts'
import { changeSetFaults } from './verify-records.ts'

const operationId = 'o0000000000000000'
const held = { path: 'a.py', hash: 'h1', size: 10, executable: false }
const base = {
  snapshot: { find: (path: string) => (path === held.path ? held : undefined) },
  blobLength: async () => 10,
}

function setOf(files: FileChange[]): ChangeSet {
  const id = changeSetId(operationId, files)
  return { changeSetId: id, operationId, bundle: 'b', nodeId: 'n0000000000000000', files, evidence: [] }
}

const edit = (edits: Edit[], over: { path?: string; baseHash?: string } = {}): FileChange => {
  return { kind: 'edit', path: 'a.py', baseHash: 'h1', edits, ...over }
}
const replace = (start: number, end: number): Edit => ({ start, end, text: 'x' })

describe('a change set', () => {
  it.each<[string, FileChange[]]>([
    ['edits in order', [edit([replace(0, 2), replace(2, 2), replace(2, 4), replace(10, 10)])]],
    ['a new file', [{ kind: 'create', path: 'b.py', content: '' }]],
    ['a deleted file', [{ kind: 'delete', path: 'a.py', baseHash: 'h1' }]],
    ['a bit alone', [{ kind: 'edit', path: 'a.py', baseHash: 'h1', edits: [], executable: true }]],
  ])('may have %s', async (_what, files) => {
    expect(await changeSetFaults(setOf(files), base)).toEqual([])
  })

  it.each<[string, FileChange[], string]>([
    [
      'edits out of order',
      [edit([replace(4, 5), replace(0, 1)])],
      'its edits of a.py are not sorted and inside 10 bytes',
    ],
    ['edits that overlap', [edit([replace(0, 3), replace(2, 4)])], 'its edits of a.py are not sorted'],
    ['two insertions at one point', [edit([replace(3, 3), replace(3, 3)])], 'its edits of a.py are not sorted'],
    ['an edit that ends before it starts', [edit([replace(3, 2)])], 'its edits of a.py are not sorted'],
    ['an edit beyond the end', [edit([replace(9, 11)])], 'its edits of a.py are not sorted'],
    ['another base', [edit([replace(0, 1)], { baseHash: 'h2' })], 'its base of a.py is h2, the snapshot has h1'],
    ['a base that is not there', [edit([replace(0, 1)], { path: 'c.py' })], 'it changes c.py, which the snapshot does'],
    [
      'a new file that is there',
      [{ kind: 'create', path: 'a.py', content: '' }],
      'it creates a.py, which the snapshot has',
    ],
    ['the bit again', [{ ...edit([replace(0, 1)]), executable: false }], 'its executable bit of a.py is not that of'],
    [
      'a deletion with a bit that was not there',
      [{ kind: 'delete', path: 'a.py', baseHash: 'h1', executable: true }],
      'its executable bit of a.py',
    ],
    ['a file twice', [edit([replace(0, 1)]), edit([replace(2, 3)])], 'it changes a.py twice'],
  ])('must not have %s', async (_what, files, fault) => {
    expect(await changeSetFaults(setOf(files), base)).toEqual([expect.stringContaining(fault)])
  })

  it('may put a bit back only if it is built on others', async () => {
    const set = setOf([{ kind: 'edit', path: 'a.py', baseHash: 'h1', edits: [], executable: false }])
    const built = { ...set, builtOn: ['c1'], changeSetId: changeSetId(operationId, set.files, ['c1']) }
    expect(await changeSetFaults(built, base)).toEqual([])
    expect(await changeSetFaults(set, base)).toEqual(['its executable bit of a.py is not that of the snapshot'])
  })

  it('is named by what it changes and is built on', async () => {
    const set = { ...setOf([edit([replace(0, 1)])]), changeSetId: 'c0' }
    expect(await changeSetFaults(set, base)).toEqual(['its id is not that of its changes'])
    const alone = setOf([edit([replace(0, 1)])])
    const built = { ...alone, builtOn: ['c1'] }
    expect(await changeSetFaults(built, base)).toEqual(['its id is not that of its changes'])
    const changeSetIdOfBuilt = changeSetId(operationId, built.files, built.builtOn)
    expect(await changeSetFaults({ ...built, changeSetId: changeSetIdOfBuilt }, base)).toEqual([])
  })
})
