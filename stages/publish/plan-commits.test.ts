import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import type { ChangeSet } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import type { PlannedCommit } from '#domain/planned-commit.ts'
import { changedFiles } from '#store/objects/composition.ts'
import { openBase, setOf } from './composed.fixture.ts'
import { type CommitSource, planCommits } from './plan-commits.ts'

const source = 'import os\nimport sys\n\n\ndef f():\n    return  1\n'
const base = openBase({ 'a.py': source, 'run.sh': { content: 'echo\n', executable: true }, old: 'o\n', 'lib/x': 'x\n' })
const { editing, creating, deleting } = base

const shown = (commits: readonly PlannedCommit[]) =>
  commits.map(({ agent, changeSetIds, files }) => [
    agent,
    changeSetIds,
    Object.fromEntries(files.map(({ path, content }) => [path, content && Buffer.from(content).toString()])),
  ])
const planned = async (...sets: ChangeSet[]) => shown(await planCommits(base.composed(sets)))

describe('the commits of a composition', () => {
  it('are one for each agent, in the order in which they build on each other, else by name', async () => {
    const lint = setOf('c1', 'lint', [editing('a.py', ['import os\n', ''])])
    const types = setOf('c2', 'annotate', [editing('a.py', ['def f():', 'def f() -> int:'])])
    const over = setOf('c3', 'docstring', [editing('a.py', ['import os\nimport sys', '"""A."""\nimport sys'])], ['c1'])
    const linted = source.replace('import os\n', '')
    const annotated = source.replace('f():', 'f() -> int:')
    expect(await planned(over, types, lint)).toEqual([
      ['annotate', ['c2'], { 'a.py': annotated }],
      ['lint', ['c1'], { 'a.py': annotated.replace('import os\n', '') }],
      ['docstring', ['c3'], { 'a.py': `"""A."""\n${annotated.replace('import os\n', '')}` }],
    ])
    expect(await planned(over, lint)).toEqual([
      ['lint', ['c1'], { 'a.py': linted }],
      ['docstring', ['c3'], { 'a.py': `"""A."""\n${linted}` }],
    ])
  })

  it('are in the same order on the next push, where other changes build on each other', async () => {
    const lint = setOf('c1', 'lint', [editing('a.py', ['import os\n', ''])])
    const over = setOf('c2', 'docstring', [editing('a.py', ['import os\nimport sys', '"""A."""\nimport sys'])], ['c1'])
    const beside = setOf('c3', 'docstring', [creating('b.py', 'b\n')])
    const after = new Map([
      ['docstring', ['types']],
      ['types', ['lint']],
    ])
    const agentsOf = async (...sets: ChangeSet[]) =>
      (await planCommits({ ...base.composed(sets), after })).map(({ agent }) => agent)
    expect(await agentsOf(lint, beside)).toEqual(['lint', 'docstring'])
    expect(await agentsOf(lint, over)).toEqual(['lint', 'docstring'])
  })

  it('say how many lines each adds and removes', async () => {
    const sets = [
      setOf('c1', 'a', [editing('a.py', ['import os\nimport sys\n', 'import re\n']), deleting('old')]),
      setOf('c2', 'b', [creating('b.py', 'b\nb\n')]),
    ]
    const commits = await planCommits(base.composed(sets))
    expect(commits.map(({ lines }) => lines)).toEqual([
      { added: 1, removed: 3 },
      { added: 2, removed: 0 },
    ])
  })

  it('have a set in a later commit where agents build on each other in a circle', async () => {
    const sets = [
      setOf('c1', 'lint', [editing('a.py', ['import os\n', ''])]),
      setOf('c2', 'lint', [creating('b.py', 'b\n')]),
      setOf('c3', 'docstring', [creating('c.py', 'c\n')], ['c1']),
      setOf('c4', 'docstring', [creating('d.py', 'd\n')], ['c2']),
      setOf('c5', 'lint', [creating('e.py', 'e\n')], ['c3']),
    ]
    const commits = await planned(...sets)
    expect(commits).toEqual([
      ['lint', ['c1', 'c2'], { 'a.py': source.replace('import os\n', ''), 'b.py': 'b\n' }],
      ['docstring', ['c3', 'c4', 'c5'], { 'c.py': 'c\n', 'd.py': 'd\n', 'e.py': 'e\n' }],
    ])
    expect(await planned(...sets.toReversed())).toMatchObject(commits.map(([agent, , files]) => [agent, {}, files]))
  })

  it('have new and deleted files with their modes, a folder never where a file still is', async () => {
    const sets = [
      setOf('c1', 'a', [creating('old/new.sh', 'n\n', true)]),
      setOf('c2', 'b', [deleting('old'), { ...editing('run.sh'), executable: false }]),
      setOf('c3', 'c', [deleting('lib/x')]),
      setOf('c4', 'b', [creating('lib', 'l\n')]),
    ]
    const commits = await planCommits(base.composed(sets))
    expect(shown(commits)).toEqual([
      ['c', ['c3'], { 'lib/x': null }],
      ['b', ['c4', 'c2'], { lib: 'l\n', old: null, 'run.sh': 'echo\n' }],
      ['a', ['c1'], { 'old/new.sh': 'n\n' }],
    ])
    const changed = commits.flatMap(({ files }) => files.flatMap(({ path, changesMode }) => (changesMode ? path : [])))
    expect(changed).toEqual(['run.sh'])
    const modes = commits.flatMap(({ files }) => files.map(({ path, executable }) => [path, executable]))
    expect(Object.fromEntries(modes)).toEqual({
      'old/new.sh': true,
      lib: false,
      'lib/x': false,
      old: false,
      'run.sh': false,
    })
  })

  it('are none without changes, and none is empty where two agents have done the same', async () => {
    expect(await planned()).toEqual([])
    const same = editing('a.py', ['import os\n', ''])
    expect(await planned(setOf('c1', 'a', [same]), setOf('c2', 'b', [same]))).toEqual([
      ['a', ['c1', 'c2'], { 'a.py': source.replace('import os\n', '') }],
    ])
  })

  it('are refused when they do not come to what was checked', async () => {
    const good = base.composed([setOf('c1', 'lint', [editing('a.py', ['import os\n', ''])])])
    const [file] = good.composition.files
    const with_ = (changes: object): CommitSource => ({
      ...good,
      composition: { files: file ? [{ ...file, ...changes }] : [] },
    })
    const otherSet = new Map([['c1', setOf('c1', 'lint', [editing('a.py', ['import os\n', 'evil\n'])])]])
    const refused: CommitSource[] = [
      with_({ resultHash: sha256('another') }),
      with_({ executable: true }),
      with_({ baseHash: null }),
      with_({ path: '../a.py' }),
      with_({ changeSetIds: ['c1', 'c2'] }),
      { ...good, sets: new Map() },
      { ...good, sets: otherSet },
    ]
    for (const one of refused) await expect(planCommits(one)).rejects.toMatchObject({ code: 'PUBLISH_001' })
    await expect(planCommits(good)).resolves.toHaveLength(1)
  })

  it('make the composed tree of any change sets, whatever builds on what', async () => {
    const paths = ['a', 'b', 'c']
    const text = 'abcdefghijklmnop'
    const files = openBase(Object.fromEntries(paths.map((path) => [path, text])))
    const one = fc.record({
      agent: fc.constantFrom('p', 'q', 'r'),
      path: fc.constantFrom(...paths, 'd'),
      at: fc.nat(text.length - 1),
      builtOn: fc.uniqueArray(fc.nat(11), { maxLength: 2 }),
    })
    const property = fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 12 }), async (all) => {
      const used = new Set<string>()
      const needs: Set<string>[] = []
      const sets = all.flatMap(({ agent, path, at, builtOn }, index): ChangeSet[] => {
        const direct = builtOn.filter((other) => other < index)
        const ids = new Set(direct.flatMap((other) => [`c${other}`, ...(needs[other] ?? [])]))
        needs.push(ids)
        const key = path === 'd' ? path : `${path}${at}`
        if (used.has(key)) return []
        used.add(key)
        const change = path === 'd' ? files.creating(path, agent) : files.editing(path, [text[at] ?? '', `<${index}>`])
        return [setOf(`c${index}`, agent, [change], [...ids])]
      })
      const there = new Set(sets.map(({ changeSetId }) => changeSetId))
      const whole = sets.filter(({ builtOn = [] }) => builtOn.every((id) => there.has(id)))
      const composed = files.composed(whole)
      const commits = await planCommits(composed)
      const last = new Map(commits.flatMap((commit) => commit.files.map((file) => [file.path, file.content])))
      for (const { path, resultHash } of changedFiles(composed.composition)) {
        expect(sha256(last.get(path) ?? '')).toBe(resultHash)
      }
      const seen = new Set<string>()
      for (const { changeSetIds } of commits) {
        for (const id of changeSetIds) seen.add(id)
        const open = changeSetIds.flatMap((id) => composed.sets.get(id)?.builtOn ?? [])
        expect(
          open.filter(
            (id) => composed.composition.files.some((file) => file.changeSetIds.includes(id)) && !seen.has(id),
          ),
        ).toEqual([])
      }
      expect(await planCommits(composed)).toEqual(commits)
    })
    await fc.assert(property, { numRuns: draws(200) })
  })
})
