import { describe, expect, it } from 'vitest'
import type { ChangeSet, Edit, FileChange } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import type { FileResult } from './changes-at-path.ts'
import { composeChangeSets } from './compose-change-sets.ts'
import { independentGroups } from './independent-groups.ts'
import { conflictsByAgent, linesOf, nameConflicts } from './name-conflicts.ts'

const base = 'import os\nimport sys\n\n\ndef f():\n    return 1\n'
const at = (text: string) => base.indexOf(text)

function setOf(id: string, bundle: string, edits: Edit[]): ChangeSet {
  return {
    changeSetId: id,
    operationId: `o${id}`,
    bundle,
    nodeId: 'n0000000000000000',
    files: [{ kind: 'edit', path: 'a.py', baseHash: sha256(base), edits }],
    evidence: [],
  }
}

const nodes = new Map([
  ['oc1', { path: 'a.py', qualifiedName: 'a.py' }],
  ['oc2', { path: 'a.py', qualifiedName: 'f' }],
])
const readBlob = async () => Buffer.from(base)

const byId = (sets: readonly ChangeSet[]) => new Map(sets.map((set) => [set.changeSetId, set]))

describe('a change set that is left out', () => {
  it('names its agent, its code and its lines, and those of the one it collides with', async () => {
    const sets = [
      setOf('c1', 'lint', [{ start: at('def'), end: base.length, text: 'def f():\n    return 2\n' }]),
      setOf('c2', 'docstring', [
        { start: 0, end: 9, text: 'import json' },
        { start: at('    return'), end: at('    return'), text: '    """Do it."""\n' },
      ]),
    ]
    const conflicts = await nameConflicts(composeChangeSets(sets).conflicts, { sets: byId(sets), nodes, readBlob })
    expect(conflicts).toEqual([
      {
        changeSetId: 'c2',
        operationId: 'oc2',
        agent: 'docstring',
        node: { path: 'a.py', qualifiedName: 'f' },
        lines: { first: 6, last: 6 },
        text: '    """Do it."""\n    return 1\n',
        path: 'a.py',
        errorCode: 'WORK_001',
        reason: 'another change set changes the same place',
        with: {
          changeSetId: 'c1',
          operationId: 'oc1',
          agent: 'lint',
          node: { path: 'a.py', qualifiedName: 'a.py' },
          lines: { first: 5, last: 6 },
          text: 'def f():\n    return 2\n',
        },
      },
    ])
    expect(conflictsByAgent(conflicts)).toEqual({ docstring: 1 })
  })

  it('has no lines where a file is created', async () => {
    const creates = (id: string, content: string): ChangeSet => ({
      ...setOf(id, 'lint', []),
      files: [{ kind: 'create', path: 'new.py', content }],
    })
    const sets = [creates('c1', 'x = 1\n'), creates('c2', 'x = 2\n')]
    const [conflict] = await nameConflicts(composeChangeSets(sets).conflicts, { sets: byId(sets), nodes, readBlob })
    const other = { operationId: 'oc1', text: 'x = 1\n' }
    expect(conflict).toMatchObject({ operationId: 'oc2', path: 'new.py', text: 'x = 2\n', with: other })
    expect(conflict).not.toHaveProperty('lines')
  })
})

describe('deletions, new files and modes', () => {
  const withFile = (id: string, ...files: FileChange[]): ChangeSet => ({ ...setOf(id, 'tidy', []), files })
  const gone: FileChange = { kind: 'delete', path: 'a.py', baseHash: sha256(base) }
  const made = (path: string, over: { content?: string; executable?: boolean } = {}): FileChange => ({
    kind: 'create',
    path,
    content: 'x\n',
    ...over,
  })
  const bit = (executable: boolean): FileChange => {
    return { kind: 'edit', path: 'a.py', baseHash: sha256(base), edits: [], executable }
  }
  const added = setOf('c2', 'lint', [{ start: 0, end: 0, text: '#\n' }])

  it.each<[string, ChangeSet, ChangeSet, Partial<FileResult>[]]>([
    ['the same deletion twice', withFile('c1', gone), withFile('c2', gone), [{ kind: 'delete' }]],
    ['the same file twice', withFile('c1', made('n')), withFile('c2', made('n', { executable: false })), [{}]],
    ['an edit and a mode', withFile('c1', bit(true)), added, [{ kind: 'edit', executable: true }]],
    ['an edit and a mode, turned', added, withFile('c3', bit(true)), [{ kind: 'edit', executable: true }]],
    [
      'files in the place of a file',
      withFile('c1', gone, made('a.py/b')),
      withFile('c2', gone, made('a.py/c')),
      [{ path: 'a.py', kind: 'delete' }, { path: 'a.py/b' }, { path: 'a.py/c' }],
    ],
  ])('compose: %s', (_what, one, other, files) => {
    const composed = composeChangeSets([one, other])
    expect(composed.conflicts).toEqual([])
    expect(composed.files).toMatchObject(files)
    expect(composed.files).toHaveLength(files.length)
  })

  it.each<[string, ChangeSet, ChangeSet]>([
    ['a deletion against an edit', withFile('c1', gone), added],
    ['an edit against a deletion', added, withFile('c3', gone)],
    ['a file against another one', withFile('c1', made('n')), withFile('c2', made('n', { content: 'y\n' }))],
    ['a file against the same with a mode', withFile('c1', made('n')), withFile('c2', made('n', { executable: true }))],
    ['a file against a folder', withFile('c1', made('n')), withFile('c2', made('n/m'))],
    ['a folder against a file', withFile('c1', made('n/m')), withFile('c2', made('n'))],
    ['a rename against an edit of the old file', withFile('c1', gone, made('b.py')), added],
  ])('are in conflict: %s', (_what, one, other) => {
    const { conflicts, files } = composeChangeSets([one, other])
    const expected = { changeSetId: other.changeSetId, errorCode: 'WORK_001', with: { changeSetId: one.changeSetId } }
    expect(conflicts).toMatchObject([expected])
    expect(files.every(({ sets }) => sets.every((set) => set === one))).toBe(true)
  })

  it('show the text that an edit makes of a file which another set deletes, whichever comes first', async () => {
    for (const sets of [
      [withFile('c1', gone), added],
      [added, withFile('c3', gone)],
    ]) {
      const [conflict] = await nameConflicts(composeChangeSets(sets).conflicts, { sets: byId(sets), nodes, readBlob })
      const edit = conflict?.changeSetId === 'c2' ? conflict : conflict?.with
      expect(edit).toMatchObject({ changeSetId: 'c2', text: '#\nimport os\n', lines: { first: 1, last: 1 } })
    }
  })
})

it('groups sets that share a file, directly or through others, and paths that cannot both be created', () => {
  const changing = (id: string, ...files: (string | FileChange)[]): ChangeSet => ({
    ...setOf(id, 'lint', []),
    files: files.map((file) =>
      typeof file === 'string'
        ? { kind: 'edit', path: file, baseHash: '', edits: [{ start: 0, end: 0, text: '' }] }
        : file,
    ),
  })
  const created = (path: string): FileChange => ({ kind: 'create', path, content: '' })
  const sets = [
    changing('c1', 'a.py'),
    changing('c2', 'b.py'),
    changing('c3', 'c.py', 'd.py'),
    changing('c4', 'b.py', 'c.py'),
    changing('c5', created('new')),
    changing('c6', 'd/a.py'),
    changing('c7', created('new/one/x.py')),
    changing('c8', created('newer/x.py')),
  ]
  const groups = independentGroups(sets).map((group) => group.map(({ changeSetId }) => changeSetId).join(' '))
  expect(groups).toEqual(['c1', 'c2 c3 c4', 'c5 c7', 'c6', 'c8'])
})

it.each([
  ['the first line', { start: 0, end: 9 }, { first: 1, last: 1 }],
  ['a line with its end', { start: 10, end: 21 }, { first: 2, last: 2 }],
  ['an insertion before a line', { start: at('def'), end: at('def') }, { first: 5, last: 5 }],
  ['several lines', { start: 3, end: at('def') + 1 }, { first: 1, last: 5 }],
])('tells the lines of %s', (_what, bytes, lines) => {
  expect(linesOf(Buffer.from(base), bytes)).toEqual(lines)
})
