import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { composeChangeSets } from '#change-sets/compose-change-sets.ts'
import { applyEdits, type ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { hasCode } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { type BaseLayer, baseLayerOf } from '../workspace/base-layer.ts'
import { openBuiltLayer } from '../workspace/built-layer.ts'
import { openWorkspace, WorkspaceFault, type Workspace } from '../workspace/open-workspace.ts'
import { changeSetOf } from './decide-outcome.ts'
import { onSnapshot } from './on-snapshot.ts'

const texts = new Map([
  ['a.py', 'one\ntwo\nthree\nfour\nfive\n'],
  ['pkg/b.py', 'é = 1\nlast'],
])

function snapshotOf(files: ReadonlyMap<string, string>): BaseLayer {
  const entries = [...files].map(([path, text]) => ({ path, hash: sha256(text), executable: false }))
  const blobs = new Map([...files.values()].map((text) => [sha256(text), Buffer.from(text)]))
  const find = (path: string) => entries.find((one) => one.path === path)
  const get = async (_project: string, hash: string) => blobs.get(hash) ?? Promise.reject(new Error(`no blob ${hash}`))
  return baseLayerOf({ files: entries, links: [], skipped: [], find }, { get }, 'p')
}

const snapshot = snapshotOf(texts)

/** What one attempt does to a file: new lines in place of some, a deletion, or a new text. */
const step = fc.record({
  path: fc.constantFrom('a.py', 'a.py', 'pkg/b.py', 'new.py'),
  kind: fc.constantFrom('edit', 'edit', 'edit', 'delete', 'write'),
  at: fc.nat(6),
  removed: fc.nat(2),
  lines: fc.array(fc.constantFrom('two', 'x', 'é', ''), { maxLength: 2 }),
})
const attempts = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 })
type Step = typeof step extends fc.Arbitrary<infer Drawn> ? Drawn : never

async function take(workspace: Workspace, { path, kind, at, removed, lines }: Step): Promise<void> {
  if (kind === 'delete') return workspace.exists(path) ? workspace.deleteFile(path) : undefined
  const before = workspace.exists(path) ? (await workspace.readText(path)).split('\n') : []
  const after = kind === 'write' ? lines : before.toSpliced(at, removed, ...lines)
  await workspace.writeText(path, after.join('\n'))
}

/** What the sets make of the snapshot, as text by path. */
async function treeOf(sets: readonly ChangeSet[]): Promise<Map<string, string>> {
  const tree = new Map(texts)
  const { files, conflicts } = composeChangeSets(sets)
  expect(conflicts).toEqual([])
  for (const file of files) {
    const before = texts.get(file.path) ?? ''
    if (file.kind === 'delete') tree.delete(file.path)
    else if (file.kind === 'create') tree.set(file.path, file.content)
    else tree.set(file.path, Buffer.from(applyEdits(Buffer.from(before), file.edits)).toString())
  }
  return tree
}

const wholeFile = (over: Partial<CodeNode> = {}): CodeNode => ({
  ...aPlannedOperation('a').node,
  path: 'a.py',
  ...over,
})

async function attemptOn(sets: readonly ChangeSet[], name: string, work: (workspace: Workspace) => Promise<void>) {
  const layer = await openBuiltLayer(snapshot, sets)
  const workspace = openWorkspace(layer)
  await work(workspace)
  const built = { layer, node: wholeFile() }
  const changes = onSnapshot({ built, workspace }, await workspace.changes())
  const operation = { ...aPlannedOperation(name), bundle: name }
  return { workspace, set: changes.files.length === 0 ? undefined : changeSetOf(operation, changes, { evidence: [] }) }
}

describe('changes of attempts that start from each other’s', () => {
  it('compose on the snapshot to what the last of them saw', async () => {
    const property = fc.asyncProperty(attempts, async (drawn) => {
      const sets: ChangeSet[] = []
      for (const [at, steps] of drawn.entries()) {
        const made = await attemptOn(sets, `agent${at}`, async (workspace) => {
          for (const one of steps) await take(workspace, one)
        }).catch((error: unknown) => {
          // Undoing a whole file of another has no form in a change set; a folder may stand where a file would.
          if (hasCode(error, 'WORK_001') || error instanceof WorkspaceFault) return undefined
          throw error
        })
        if (made === undefined) continue
        if (made.set !== undefined) sets.push(made.set)
        const tree = await treeOf(sets)
        for (const path of ['a.py', 'pkg/b.py', 'new.py']) {
          const seen = made.workspace.exists(path) ? await made.workspace.readText(path) : undefined
          expect(tree.get(path)).toBe(seen)
        }
        const turned = await treeOf(sets.toReversed())
        expect(turned).toEqual(tree)
      }
    })
    await fc.assert(property, { numRuns: draws(400) })
  })

  it('need the sets that changed their node or that they replace, and no safe fix elsewhere in the file', async () => {
    const fix = async (name: string, from: string, to: string): Promise<ChangeSet> => {
      const { set } = await attemptOn([], name, async (workspace) => {
        await workspace.writeText('a.py', (await workspace.readText('a.py')).replace(from, to))
      })
      if (set === undefined) throw new Error('nothing changed')
      return { ...set, rules: ['F401'] }
    }
    const [above, inside] = [await fix('above', 'one\n', ''), await fix('inside', 'three', '3')]
    const layer = await openBuiltLayer(snapshot, [above, inside])
    const workspace = openWorkspace(layer)
    await workspace.writeText('a.py', (await workspace.readText('a.py')).replace('four', 'fourth'))
    const node = wholeFile({ startByte: 8, endByte: 18 })
    expect(onSnapshot({ built: { layer, node }, workspace }, await workspace.changes())).toEqual({
      files: [
        {
          kind: 'edit',
          path: 'a.py',
          baseHash: sha256(texts.get('a.py') ?? ''),
          edits: [{ start: 18, end: 18, text: 'th' }],
        },
      ],
      builtOn: [inside.changeSetId],
    })
  })

  it('are refused where they only take back what another did to a whole file', async () => {
    const made = await attemptOn([], 'maker', async (workspace) => workspace.writeText('new.py', 'x\n'))
    if (made.set === undefined) throw new Error('nothing was made')
    const undone = attemptOn([made.set], 'undoer', async (workspace) => workspace.deleteFile('new.py'))
    await expect(undone).rejects.toMatchObject({ code: 'WORK_001', message: expect.stringContaining('new.py') })
  })
})
