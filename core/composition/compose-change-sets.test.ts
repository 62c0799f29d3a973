import { describe, expect, it } from 'vitest'
import type { ChangeSet, Edit, FileChange } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import { composeChangeSets, independentGroups } from './compose-change-sets.ts'
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
