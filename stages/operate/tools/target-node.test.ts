import { describe, expect, it } from 'vitest'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { baseOver } from '../workspace/base-over.fixture.ts'
import { openWorkspace } from '../workspace/open-workspace.ts'
import { nodeInputs } from './provided-inputs.ts'
import { openTargetNode } from './target-node.ts'

const before = 'import os  # ä😀\r\n\n\n'
const node = 'def f(x):\n    return x\n'
const after = '\n\ndef g():\n    pass\n'
const base = before + node.trimEnd() + after

/** Where a script sees its node once the file has this text. */
async function seenIn(text: string) {
  const { path } = aPlannedOperation('f').node
  const workspace = openWorkspace(baseOver({ [path]: base }))
  const startByte = Buffer.byteLength(before)
  const place = { startByte, endByte: startByte + Buffer.byteLength(node.trimEnd()), parentId: 'n0000000000000000' }
  const target = await openTargetNode({ ...aPlannedOperation('f').node, ...place }, workspace, { rules: wideRules })
  if (text !== base) await workspace.writeText(path, text)
  const inputs = nodeInputs(target, workspace, async () => [])
  const read = (name: string) => Promise.resolve(inputs[name]?.())
  const [first, last] = [await read('node_start_line'), await read('node_end_line')]
  return { first, last, text: await read('node_text') }
}

describe('where a script sees its node', () => {
  it('is its first and last line, and its text by position', async () => {
    expect(await seenIn(base)).toEqual({ first: 4, last: 5, text: 'def f(x):\n    return x' })
  })

  it('grows with what was written in it', async () => {
    const grown = base.replace('return x', 'y = x\n    return y')
    expect(await seenIn(grown)).toEqual({ first: 4, last: 6, text: 'def f(x):\n    y = x\n    return y' })
  })

  it('moves with what was written before and after it, also both', async () => {
    const moved = { first: 6, last: 7, text: 'def f(x):\n    return x' }
    expect(await seenIn(`"""Why.\n"""\n${base}`)).toEqual(moved)
    expect(await seenIn(`"""Why.\n"""\n${base}\nx = 1\n`)).toEqual(moved)
    expect(await seenIn(`${base}\nx = 1\n`)).toEqual({ ...moved, first: 4, last: 5 })
    const changed = `"""Why.\n"""\n${base.replace('return x', 'return 2 * x')}`
    expect(await seenIn(changed)).toEqual({ ...moved, text: 'def f(x):\n    return 2 * x' })
  })
})
