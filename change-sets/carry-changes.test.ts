import { describe, expect, it } from 'vitest'
import { applyEdits, type ChangeSet, type FileChange } from '#domain/change-set.ts'
import { changeSetId, sha256 } from '#domain/ids.ts'
import { carryChanges } from './carry-changes.ts'
import { editsBetween } from './edits-between.ts'

const old = 'def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\ndef three():\n    return 3\n'
const documented = old.replace('def two():\n', 'def two():\n    """Two."""\n')
const bytes = (text: string) => Buffer.from(text)

function setOf(files: FileChange[], builtOn?: string[]): ChangeSet {
  const operationId = 'o0123456789abcdef'
  const needs = builtOn === undefined ? {} : { builtOn }
  const id = changeSetId(operationId, files, builtOn)
  return {
    changeSetId: id,
    operationId,
    bundle: 'docstring',
    nodeId: 'n0123456789abcdef',
    files,
    evidence: [],
    ...needs,
  }
}

const edit = (from: string, to: string): FileChange => {
  return { kind: 'edit', path: 'a.py', baseHash: sha256(from), edits: editsBetween(bytes(from), bytes(to)) }
}

/** Carries sets that were made for `old` to a commit that has this file instead. */
async function carriedTo(now: string | undefined, sets: readonly ChangeSet[]) {
  const readNow = async () => (now === undefined ? undefined : { hash: sha256(now), bytes: async () => bytes(now) })
  return carryChanges(sets, { readBase: async () => bytes(old), readNow })
}

/** What the carried sets make of the file. */
async function resultOn(now: string, sets: readonly ChangeSet[]): Promise<string> {
  const { carried } = await carriedTo(now, sets)
  const edits = carried.flatMap(({ set }) => set.files.flatMap((file) => (file.kind === 'edit' ? file.edits : [])))
  return Buffer.from(applyEdits(bytes(now), edits)).toString()
}

describe('carryChanges', () => {
  const set = setOf([edit(old, documented)])

  it('leaves a change as it is where its file is the same', async () => {
    expect(await carriedTo(old, [set])).toEqual({ carried: [{ set, of: set.changeSetId }], lost: [] })
  })

  it.each([
    ['before it', old.replace('return 1', 'return 10 + 1')],
    ['after it', old.replace('return 3', 'return 30')],
    ['on both sides, in other lengths', `import os\n\n\n${old.replace('return 3', 'return 3 # é')}`],
  ])('moves it where lines were changed %s', async (_where, now) => {
    expect(await resultOn(now, [set])).toBe(now.replace('def two():\n', 'def two():\n    """Two."""\n'))
  })

  it('names it anew where it was moved, since it is another change of another file', async () => {
    const { carried } = await carriedTo(`import os\n${old}`, [set])
    expect(carried).toMatchObject([
      { of: set.changeSetId, set: { changeSetId: expect.not.stringMatching(set.changeSetId) } },
    ])
  })

  it.each([
    ['its lines were written anew', old.replace('def two():\n    return 2\n', 'two = abs\n')],
    ['something was added at its place', old.replace('def two():\n', 'def two():\n    print(2)\n')],
    ['its file is gone', undefined],
  ])('loses it where %s', async (_why, now) => {
    expect(await carriedTo(now, [set])).toEqual({ carried: [], lost: [set.changeSetId] })
  })

  it('loses what is built on what is lost, and keeps what is built on what is moved', async () => {
    const other = setOf([edit(old, old.replace('return 3', 'return 3.0'))], [set.changeSetId])
    const lost = await carriedTo(old.replace('def two():\n', 'def two():\n    print(2)\n'), [set, other])
    expect(lost.lost).toEqual([set.changeSetId, other.changeSetId])
    const { carried } = await carriedTo(`import os\n${old}`, [other, set])
    expect(carried.map(({ of }) => of)).toEqual([set.changeSetId, other.changeSetId])
    expect(carried[1]?.set.builtOn).toEqual([carried[0]?.set.changeSetId])
  })

  it.each<[string, FileChange, string | undefined, boolean]>([
    ['a new file', { kind: 'create', path: 'b.py', content: 'b = 1\n' }, undefined, true],
    ['a new file that somebody has made', { kind: 'create', path: 'b.py', content: 'b = 1\n' }, 'b = 2\n', false],
    ['a deletion', { kind: 'delete', path: 'a.py', baseHash: sha256(old) }, old, true],
    ['a deletion of what has changed', { kind: 'delete', path: 'a.py', baseHash: sha256(old) }, `${old}#\n`, false],
  ])('carries %s only where nobody was faster', async (_what, file, now, isKept) => {
    expect((await carriedTo(now, [setOf([file])])).carried).toHaveLength(isKept ? 1 : 0)
  })
})
