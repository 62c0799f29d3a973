import { describe, expect, it } from 'vitest'
import { type ChangeSet, type Edit, type FileChange } from '#domain/change-set.ts'
import { composeChangeSets } from './compose-change-sets.ts'
import { independentGroups, neededFirst } from './independent-groups.ts'

function setOf(id: string, files: FileChange[], builtOn: string[] = []): ChangeSet {
  const ids = { changeSetId: id, operationId: `o${id}`, bundle: 'b', nodeId: 'n0000000000000000' }
  return { ...ids, files, ...(builtOn.length === 0 ? {} : { builtOn }), evidence: [] }
}

function editing(edits: Edit[], path = 'f'): FileChange {
  return { kind: 'edit', path, baseHash: 'h', edits }
}

describe('a change set that is built on another', () => {
  const lint = setOf('c1', [editing([{ start: 2, end: 4, text: 'L' }])])
  const over = setOf('c2', [editing([{ start: 1, end: 4, text: 'bLX' }])], ['c1'])

  it('is left out without it, and the reason names that, also when that one is left out itself', () => {
    const [conflict] = composeChangeSets([over]).conflicts
    expect(conflict).toEqual({
      changeSetId: 'c2',
      operationId: 'oc2',
      path: 'f',
      errorCode: 'WORK_002',
      reason: 'it is built on c1, which is not there',
      bytes: { start: 1, end: 4 },
    })
    const rival = setOf('c0', [editing([{ start: 3, end: 5, text: '' }])])
    expect(composeChangeSets([rival, over, lint]).conflicts).toMatchObject([
      { changeSetId: 'c1', errorCode: 'WORK_001', with: { changeSetId: 'c0' } },
      { changeSetId: 'c2', errorCode: 'WORK_002', with: { changeSetId: 'c1', operationId: 'oc1' } },
    ])
  })

  it('collides with what changes the same place, and keeps what it replaces from what is not the same', () => {
    const inside = setOf('c3', [editing([{ start: 1, end: 2, text: 'Y' }])])
    const partly = setOf('c4', [editing([{ start: 3, end: 6, text: '' }])], ['c1'])
    const with2 = { with: { changeSetId: 'c2' } }
    expect(composeChangeSets([lint, over, inside]).conflicts).toMatchObject([{ changeSetId: 'c3', ...with2 }])
    expect(composeChangeSets([lint, partly]).conflicts).toMatchObject([{ changeSetId: 'c4', errorCode: 'WORK_001' }])
  })

  it('collides where each of two replaces what the other one does', () => {
    const writes = (id: string, text: string, builtOn: string[] = []) =>
      setOf(
        id,
        [
          {
            ...editing([{ start: 2, end: 4, text }]),
            ...(text === 'L' ? { executable: true } : { executable: false }),
          },
        ],
        builtOn,
      )
    const one = [writes('c1', 'L'), writes('c2', 'M', ['c1']), writes('c3', 'L', ['c1', 'c2'])]
    const other = [writes('d1', 'L'), writes('d2', 'M', ['d1'])]
    const together = (sets: ChangeSet[]) =>
      composeChangeSets(sets).conflicts.map((conflict) => [conflict.changeSetId, conflict.with?.changeSetId])
    expect(together([...one, ...other])).toEqual([['d2', 'c3']])
    expect(together([...other, ...one])).toEqual([['c3', 'd2']])
    const onlyBits = (sets: ChangeSet[]) =>
      sets.map((set) => ({ ...set, files: set.files.map((file) => ({ ...file, edits: [] })) }))
    expect(together(onlyBits([...one, ...other]))).toEqual([['d2', 'c3']])
  })

  it('is in one group with it without a common file, and comes after it', () => {
    const elsewhere = setOf('c5', [editing([], 'g')], ['c1'])
    const apart = setOf('c6', [editing([], 'h')])
    expect(independentGroups([elsewhere, apart, lint])).toEqual([[elsewhere, lint], [apart]])
    expect(neededFirst([elsewhere, apart, over, lint])).toEqual([lint, elsewhere, apart, over])
  })
})
