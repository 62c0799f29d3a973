import { draws, fc } from '#testing/fast-check.ts'
import { expect, it } from 'vitest'
import { applyEdits, type ChangeSet, type FileChange } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import type { FileResult } from './changes-at-path.ts'
import { composeChangeSets } from './compose-change-sets.ts'
import { independentGroups } from './independent-groups.ts'

type File = { content: string; executable: boolean }
type Tree = ReadonlyMap<string, File>

const base: Tree = new Map([
  ['a', { content: '0123456789', executable: false }],
  ['b', { content: 'abcdefghij', executable: true }],
  ['pkg/c', { content: '', executable: false }],
])

function changeOf(path: string, made: { kind: number; start: number; length: number; text: string; bit: boolean }) {
  const held = base.get(path)
  const { kind, start, length, text, bit } = made
  const bitIfSet = bit ? { executable: true } : {}
  if (held === undefined) return { kind: 'create' as const, path, content: text, ...bitIfSet }
  const baseHash = sha256(held.content)
  if (kind === 0) return { kind: 'delete' as const, path, baseHash, ...(held.executable ? { executable: true } : {}) }
  const end = Math.min(held.content.length, start + length)
  const edits = start <= held.content.length ? [{ start, end, text }] : []
  const executable = bit || edits.length === 0 ? { executable: !held.executable } : {}
  return { kind: 'edit' as const, path, baseHash, edits, ...executable }
}

/** A set may create a file below one of the base only if it deletes that one, as a workspace sees to it. */
function isPossible(files: readonly FileChange[]): boolean {
  const gone = new Set(files.flatMap(({ kind, path }) => (kind === 'delete' ? [path] : [])))
  const made = files.flatMap(({ kind, path }) => (kind === 'create' ? [path] : []))
  return made.every(
    (path) =>
      [...base.keys()].every((held) => gone.has(held) || !path.startsWith(`${held}/`)) &&
      made.every((other) => !other.startsWith(`${path}/`)),
  )
}

const made = fc.record({
  kind: fc.nat(3),
  start: fc.nat(10),
  length: fc.nat(3),
  text: fc.constantFrom('', 'x', 'é'),
  bit: fc.boolean(),
})
const path = fc.constantFrom('a', 'b', 'pkg/c', 'n', 'n/m', 'n/m/o', 'a/x', 'pkg/new')
const files = fc
  .uniqueArray(fc.tuple(path, made), { minLength: 1, maxLength: 3, selector: ([at]) => at })
  .map((all) => all.map(([at, how]): FileChange => changeOf(at, how)))
  .filter(isPossible)
const sets = fc.array(files, { maxLength: 6 }).map((all) =>
  all.map((changes, at): ChangeSet => {
    const ids = { changeSetId: `c${at}`, operationId: `o${at}`, bundle: 'b', nodeId: 'n0000000000000000' }
    return { ...ids, files: changes, evidence: [] }
  }),
)

function treeOf(results: readonly FileResult[]): Tree {
  const tree = new Map(base)
  for (const file of results) {
    const held = base.get(file.path)
    const executable = file.executable ?? held?.executable ?? false
    if (file.kind === 'delete') tree.delete(file.path)
    else if (file.kind === 'create') tree.set(file.path, { content: file.content, executable })
    else {
      const content = Buffer.from(applyEdits(Buffer.from(held?.content ?? ''), file.edits)).toString()
      tree.set(file.path, { content, executable })
    }
  }
  return tree
}

const sorted = (tree: Tree) => [...tree].toSorted(([one], [other]) => (one < other ? -1 : 1))

it('whatever sets there are, those that compose make one tree, in any order, and the others collide with one of them', () => {
  fc.assert(
    fc.property(sets, (all) => {
      const { files: results, conflicts } = composeChangeSets(all)
      const leftOut = new Set(conflicts.map(({ changeSetId }) => changeSetId))
      const taken = all.filter(({ changeSetId }) => !leftOut.has(changeSetId))
      const turned = composeChangeSets(taken.toReversed())
      expect(turned.conflicts).toEqual([])
      expect(sorted(treeOf(turned.files))).toEqual(sorted(treeOf(results)))
      const paths = [...treeOf(results).keys()]
      expect(paths.filter((at) => paths.some((other) => other.startsWith(`${at}/`)))).toEqual([])
      for (const { changeSetId, with: other } of conflicts) {
        const pair = all.filter((set) => set.changeSetId === changeSetId || set.changeSetId === other?.changeSetId)
        expect(composeChangeSets(pair).conflicts).toHaveLength(1)
        expect(taken.map((set) => set.changeSetId)).toContain(other?.changeSetId)
      }
      const apart = independentGroups(all).flatMap((group) => composeChangeSets(group).files)
      expect(sorted(treeOf(apart))).toEqual(sorted(treeOf(results)))
    }),
    { numRuns: draws(2_000) },
  )
})
