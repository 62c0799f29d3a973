import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { composeChangeSets } from '#change-sets/compose-change-sets.ts'
import { applyEdits, type ChangeSet, type FileChange } from '#domain/change-set.ts'
import { changeSetId, sha256 } from '#domain/ids.ts'
import { hasCode } from '#domain/error.ts'
import { setsTogether } from '#stages/audit/sets-together.ts'
import { changeSetFaults } from '#stages/audit/verify-records.ts'
import { baseLayerOf } from './base-layer.ts'
import { type BuiltLayer, openBuiltLayer } from './built-layer.ts'
import { openWorkspace, WorkspaceFault, type Workspace } from './open-workspace.ts'

type File = { text: string; executable: boolean }

const files = new Map<string, File>([
  ['a.sh', { text: 'one\ntwo\nthree\n', executable: false }],
  ['run', { text: '#!/bin/sh\n', executable: true }],
  ['pkg/crlf.txt', { text: '\uFEFFone\r\ntwo\r\n\r\nthree', executable: false }],
  ['pkg/empty', { text: '', executable: true }],
])

const entries = [...files].map(([path, { text, executable }]) => ({ path, hash: sha256(text), executable }))
const blobs = new Map([...files.values()].map(({ text }) => [sha256(text), Buffer.from(text)]))
const find = (path: string) => entries.find((one) => one.path === path)
const get = async (_project: string, hash: string) => blobs.get(hash) ?? Promise.reject(new Error(`no blob ${hash}`))
const snapshot = baseLayerOf({ files: entries, links: [], skipped: [], find }, { get }, 'p')

/** The change set of an operation that starts from others, built on all of these or on those that it replaces something of. */
async function setOn(others: readonly ChangeSet[], work: (workspace: Workspace) => Promise<void>): Promise<ChangeSet> {
  const layer = await openBuiltLayer(snapshot, others)
  const workspace = openWorkspace(layer)
  await work(workspace)
  const { files: changes } = layer.onSnapshot(await workspace.changes())
  const operationId = `o${sha256(JSON.stringify([others, changes])).slice(0, 16)}`
  const builtOn = others.map((set) => set.changeSetId)
  const id = changeSetId(operationId, changes, builtOn)
  const ids = { changeSetId: id, operationId, bundle: 'b', nodeId: 'n0000000000000000' }
  return { ...ids, files: changes, ...(builtOn.length === 0 ? {} : { builtOn }), evidence: [] }
}

/** What is wrong with the sets, and the files that they change, as text and mode; null for a deleted one. */
async function composed(sets: readonly ChangeSet[]) {
  const blobLength = async (hash: string) => blobs.get(hash)?.length
  const found = await Promise.all(sets.map((set) => changeSetFaults(set, { snapshot: { find: fileAt }, blobLength })))
  const { files: results, conflicts } = composeChangeSets(sets)
  const made = results.map((file) => {
    if (file.kind === 'delete') return [file.path, null, file.executable]
    const text = file.kind === 'create' ? file.content : textOf(file)
    return [file.path, text, file.executable]
  })
  return { faults: found.flat(), conflicts, made }
}

function fileAt(path: string) {
  const entry = find(path)
  return entry && { ...entry, size: blobs.get(entry.hash)?.length ?? 0 }
}

function textOf({ path, edits }: Extract<FileChange, { kind: 'edit' }>): string {
  return Buffer.from(applyEdits(Buffer.from(files.get(path)?.text ?? ''), edits)).toString()
}

const write =
  (text: string, executable?: boolean, path = 'a.sh') =>
  (workspace: Workspace) =>
    workspace.writeText(path, text, executable)
const remove =
  (path = 'a.sh') =>
  (workspace: Workspace) =>
    workspace.deleteFile(path)

describe('a mode that an operation starts from', () => {
  it.each([
    ['elsewhere in the file', 'ONE\ntwo\nthree\n', 'ONE\ntwo\nTHREE\n'],
    ['in the same line', 'ONE\ntwo\nthree\n', '1\ntwo\nthree\n'],
    ['in a file of which it is all that has changed', 'one\ntwo\nthree\n', '1\ntwo\nthree\n'],
  ])('stays where the operation does not touch it: it edits %s', async (_what, theirs, own) => {
    const first = await setOn([], write(theirs, true))
    const second = await setOn([first], write(own))
    expect(await composed([first, second])).toEqual({ faults: [], conflicts: [], made: [['a.sh', own, true]] })
  })

  it('is that of the snapshot where the file is deleted', async () => {
    const first = await setOn([], write('ONE\ntwo\nthree\n', true))
    const gone = await setOn([first], remove())
    expect(await composed([first, gone])).toEqual({ faults: [], conflicts: [], made: [['a.sh', null, undefined]] })
    const plain = await setOn([], write('#!/bin/bash\n', false, 'run'))
    const removed = await setOn([plain], remove('run'))
    expect(await composed([plain, removed])).toEqual({ faults: [], conflicts: [], made: [['run', null, true]] })
  })
})

type Tree = Map<string, File>

/** What the sets make of the snapshot. They compose, and the proof has nothing to say against what each file comes to. */
async function treeOf(sets: readonly ChangeSet[]): Promise<Tree> {
  const { files: results, conflicts } = composeChangeSets(sets)
  expect(conflicts).toEqual([])
  expect(new Set(results.flatMap((file) => file.sets))).toEqual(new Set(sets))
  const tree: Tree = new Map(files)
  for (const { sets: own, ...file } of results) {
    const { path } = file
    const before = files.get(path)
    const proved = setsTogether(own, { path, wasExecutable: before?.executable })
    expect(proved).toEqual(Object.fromEntries(Object.entries(file).filter(([, value]) => value !== undefined)))
    if (file.kind === 'delete') tree.delete(path)
    else {
      const executable = file.executable ?? before?.executable ?? false
      tree.set(path, { text: file.kind === 'create' ? file.content : textOf(file), executable })
    }
  }
  return tree
}

const sorted = (tree: Tree) => [...tree].toSorted(([one], [other]) => (one < other ? -1 : 1))

const paths = ['a.sh', 'a.sh', 'a.sh', 'pkg/crlf.txt', 'run', 'pkg/empty', 'new', 'pkg']
const step = fc.record({
  path: fc.constantFrom(...paths),
  to: fc.constantFrom(...paths),
  kind: fc.constantFrom('edit', 'edit', 'edit', 'write', 'mode', 'delete', 'rename'),
  at: fc.nat(4),
  removed: fc.nat(2),
  lines: fc.array(fc.constantFrom('two', 'x', 'é', '', 'one\r'), { maxLength: 2 }),
  executable: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer Drawn> ? Drawn : never

async function take(workspace: Workspace, { path, to, kind, at, removed, lines, executable }: Step): Promise<void> {
  if (kind === 'write') return workspace.writeText(path, lines.join('\n'), executable)
  if (!workspace.exists(path)) return undefined
  if (kind === 'delete') return workspace.deleteFile(path)
  if (kind === 'rename') return workspace.renameFile(path, to)
  const text = await workspace.readText(path)
  if (kind === 'mode') return workspace.writeText(path, text, executable)
  return workspace.writeText(
    path,
    text
      .split('\n')
      .toSpliced(at, removed, ...lines)
      .join('\n'),
  )
}

/** An operation, the earlier ones that it starts from, and whether its set needs all of these, or those of which it replaces something. */
const attempt = fc.record({
  on: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
  needsAll: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 3 }),
})
type Attempt = typeof attempt extends fc.Arbitrary<infer Drawn> ? Drawn : never

function withNeeded(chosen: readonly ChangeSet[], all: readonly ChangeSet[]): ChangeSet[] {
  const ids = new Set(chosen.flatMap((set) => [set.changeSetId, ...(set.builtOn ?? [])]))
  return all.filter((set) => ids.has(set.changeSetId))
}

/** Undefined for an operation that fails, or changes nothing. */
async function play({ on, needsAll, steps }: Attempt, all: readonly ChangeSet[]) {
  const layer = await openBuiltLayer(
    snapshot,
    withNeeded(
      all.filter((_, place) => on[place]),
      all,
    ),
  )
  const workspace = openWorkspace(layer)
  try {
    for (const one of steps) await take(workspace, one)
    const { files: changes, replaced } = layer.onSnapshot(await workspace.changes())
    if (changes.length === 0) return undefined
    const needed = withNeeded(needsAll ? layer.sets : layer.sets.filter((one) => replaced.has(one.changeSetId)), all)
    const operationId = `o${sha256(`${all.length}`).slice(0, 16)}`
    const builtOn = needed.map((one) => one.changeSetId)
    const id = changeSetId(operationId, changes, builtOn)
    const ids = { changeSetId: id, operationId, bundle: 'b', nodeId: 'n0000000000000000' }
    const set = { ...ids, files: changes, ...(builtOn.length === 0 ? {} : { builtOn }), evidence: [] }
    return { set, workspace, layer, needed }
  } catch (error) {
    // Undoing a whole file of another has no form in a change set; a folder may stand where a file would.
    if (hasCode(error, 'WORK_001') || error instanceof WorkspaceFault) return undefined
    throw error
  }
}

/** The file as the operation leaves it. */
async function seenAt({ workspace, layer }: { workspace: Workspace; layer: BuiltLayer }, path: string) {
  if (!workspace.exists(path)) return undefined
  const written = workspace.written().written.find((file) => file.path === path)
  const executable = written?.executable ?? layer.find(path)?.executable ?? false
  return { text: await workspace.readText(path), executable }
}

describe('an edit that replaces nothing', () => {
  it('needs those who deleted the file and made it anew', async () => {
    const gone = await setOn([], remove())
    const anew = await setOn([gone], write(''))
    const layer = await openBuiltLayer(snapshot, [gone, anew])
    const workspace = openWorkspace(layer)
    await workspace.writeText('a.sh', 'new\n')
    const { replaced } = layer.onSnapshot(await workspace.changes())
    expect(replaced).toEqual(new Set([gone.changeSetId, anew.changeSetId]))
  })

  it('needs the set at whose place it is, although another one has replaced that, and the other one', async () => {
    const after = await setOn([], write('one\ntwo\nthree\nfour\n'))
    const all = await setOn([after], write('all'))
    const layer = await openBuiltLayer(snapshot, [after, all])
    const workspace = openWorkspace(layer)
    await workspace.writeText('a.sh', 'all\nmore')
    const { files: changes, replaced } = layer.onSnapshot(await workspace.changes())
    expect(changes).toMatchObject([{ edits: [{ start: 14, end: 14, text: '\nmore' }] }])
    expect(replaced).toEqual(new Set([after.changeSetId, all.changeSetId]))
  })
})

describe('change sets of operations that start from some of each other', () => {
  it('come to what their operation saw, and those that somebody accepts to one tree that the proof makes, too', async () => {
    const decisions = fc.array(
      fc.record({ verdict: fc.constantFrom('accepted', 'pending', 'rejected'), rank: fc.nat() }),
      {
        minLength: 6,
        maxLength: 6,
      },
    )
    const property = fc.asyncProperty(
      fc.array(attempt, { minLength: 2, maxLength: 6 }),
      decisions,
      async (drawn, decided) => {
        const sets: ChangeSet[] = []
        for (const one of drawn) {
          const made = await play(one, sets)
          if (made === undefined) continue
          const tree = await treeOf([...made.layer.sets, made.set])
          for (const path of new Set([...tree.keys(), ...paths])) {
            expect(tree.get(path)).toEqual(await seenAt(made, path))
          }
          await treeOf([...made.needed, made.set])
          sets.push(made.set)
        }
        expect((await composed(sets)).faults).toEqual([])
        const selected = sets
          .map((set, place) => ({ set, ...(decided[place] ?? { verdict: 'pending', rank: 0 }) }))
          .filter(({ verdict }) => verdict !== 'rejected')
          .toSorted((one, other) => (one.verdict < other.verdict ? -1 : one.rank - other.rank))
          .map(({ set }) => set)
        const leftOut = new Set(composeChangeSets(selected).conflicts.map((conflict) => conflict.changeSetId))
        const taken = selected.filter((set) => !leftOut.has(set.changeSetId))
        const tree = await treeOf(taken)
        expect(sorted(await treeOf(taken.toReversed()))).toEqual(sorted(tree))
      },
    )
    await fc.assert(property, { numRuns: draws(500) })
  })
})
