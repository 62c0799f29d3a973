import { describe, expect, it } from 'vitest'
import type { Evidence } from '#domain/change-set.ts'
import { runRules } from '../../evidence/run-rules.ts'
import { openWorkspace } from '../../workspace/open-workspace.ts'
import { openProof } from './prove-changes.ts'

const never = new AbortController().signal
const empty = { find: () => undefined, kindAt: () => undefined, list: () => [], read: async () => new Uint8Array() }

/** Two new files that are checked one after the other; `checked` has the paths checked so far. */
async function twoFiles(onCheck: () => void) {
  const workspace = openWorkspace(empty)
  for (const path of ['a.py', 'b.py']) await workspace.writeText(path, 'x = 1\n')
  const checked: string[] = []
  const check = async ({ path }: { path: string }): Promise<Evidence[]> => {
    checked.push(path)
    onCheck()
    return [{ check: 'parses', path, ok: true, tool: 't' }]
  }
  const node = { path: 'a.py', startByte: 0, endByte: 5 }
  const file = { evidence: ['parses' as const] }
  const proven = {
    attempt: { operationId: 'op', repeats: null, node },
    bundle: { bundle: { file } },
    rules: runRules(undefined),
    workspace,
  }
  const prove = openProof(proven, { evidence: { check }, tests: { evidence: async () => [] } })
  return { prove, checked }
}

describe('the proof of what an attempt changed', () => {
  it('is found out once for one state of its files', async () => {
    const { prove, checked } = await twoFiles(() => undefined)
    const { evidence } = await prove(never)
    expect(evidence.map(({ path }) => path)).toEqual(['a.py', 'b.py'])
    expect(await prove(never)).toMatchObject({ evidence })
    expect(checked).toEqual(['a.py', 'b.py'])
  })

  it('is not finished for an attempt that is stopped, and is found out anew when it is asked for again', async () => {
    const stop = new AbortController()
    const { prove, checked } = await twoFiles(() => stop.abort(new Error('stopped')))
    await expect(prove(stop.signal)).rejects.toThrow('stopped')
    expect(checked).toEqual(['a.py'])
    expect((await prove(never)).evidence).toHaveLength(2)
  })
})
