import { describe, expect, it } from 'vitest'
import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/ids.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { baseOver } from '../workspace/base-over.fixture.ts'
import { openBuiltLayer } from '../workspace/built-layer.ts'
import { openWorkspace, type Workspace } from '../workspace/open-workspace.ts'
import { changeSetOf } from './decide-outcome.ts'
import { onSnapshot } from './on-snapshot.ts'

const text = 'one\ntwo\nthree\nfour\nfive\n'
const snapshot = baseOver({ 'a.py': text })

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
  const operation = { ...aPlannedOperation(name), repeats: null, bundle: name }
  return { workspace, set: changes.files.length === 0 ? undefined : changeSetOf(operation, changes, { evidence: [] }) }
}

describe('changes of attempts that start from each other’s', () => {
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
          baseHash: sha256(text),
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
