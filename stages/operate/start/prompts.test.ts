import { afterAll, describe, expect, it } from 'vitest'
import { fileURLToPath } from 'node:url'
import { loadBundles } from '#bundles/load-bundle.ts'
import { defaultProject } from '#domain/ids.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { openTestLinter } from '#languages/lint/test-linter.fixture.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { openPreparedBundles } from '../agent/prepared-bundle.ts'
import { openTargetNode } from '../tools/target-node.ts'
import { baseOver } from '../workspace/base-over.fixture.ts'
import { openWorkspace } from '../workspace/open-workspace.ts'
import { promptsFor } from './prompts.ts'

const linter = await openTestLinter()
afterAll(linter.close)
const deps = { linter, python: await loadLanguage('python') }
const found = await loadBundles(fileURLToPath(new URL('../../../agents', import.meta.url)))
const prepared = openPreparedBundles(async (_project, name) => {
  const one = found.get(name)
  if (one === undefined) throw new Error(`there is no bundle ${name}`)
  return one.bundle
})

/** The first prompt about `part` of a file, or about the file where none is named. */
async function asked(agent: 'lint' | 'docstring', source: string, { part = source, modelTokens = 4_000 } = {}) {
  const bundle = await prepared(defaultProject, agent)
  const startByte = Buffer.byteLength(source.slice(0, source.indexOf(part)))
  const workspace = openWorkspace(baseOver({ 'a.py': source }))
  const isFile = part === source
  const kind = isFile ? { kind: 'file', parentId: null } : { parentId: 'n0000000000000000' }
  const place = { path: 'a.py', startByte, endByte: startByte + Buffer.byteLength(part), ...kind }
  const node = { ...aPlannedOperation('f').node, ...place }
  const target = await openTargetNode(node, workspace, { rules: wideRules })
  const context = { objective: '', feedback: '', last_error: '', earlier_results: '', related_code: '' }
  return (await promptsFor({ bundle, target, context, modelTokens }, deps)).node
}

const filler = (count: number) => Array.from({ length: count }, (_, at) => `x${at} = ${at}\n`).join('')
const fault = 'if x0 == None:\n    pass\n'
/** A third of the model's tokens, of four characters each, and the prompt's text around the node. */
const limit = (4_000 / 3) * 4 + 1_000

describe('what an agent is shown of its node', () => {
  it('is a function whole, with its faults, their lines in the file and what these hold', async () => {
    const part = 'def f(x):\n    return x == None'
    const user = await asked('lint', `import os\n\n\n${part}\n`, { part })
    const listed = '- line 5, column 17: E711 Comparison to `None` should be `cond is None`\n  in: return x == None\n'
    expect(user).toContain(`Its faults:\n${listed}`)
    expect(user).toContain(`\`\`\`python\n${part}\n\`\`\``)
    expect(user).not.toContain('import os')
  })

  it('is of a file the lines around its faults and no definition, with their numbers', async () => {
    const source = `${filler(50)}${fault}${filler(50)}\n\ndef f(x):\n    return x == None\n`
    const user = await asked('lint', source)
    expect(user).toContain('Its faults:\n- line 51, column 10: E711')
    expect(user).toContain(`[lines 48 to 54]\nx47 = 47\nx48 = 48\nx49 = 49\n${fault}x0 = 0\nx1 = 1\n`)
    expect(user).not.toContain('x45')
    expect(user).not.toContain('def f')
  })

  it('is of many faults as much as the model takes, and says how many are not shown', async () => {
    const user = await asked('lint', `${fault}${filler(20)}`.repeat(500))
    expect(user.length).toBeLessThan(limit + 40 * 100)
    expect(user).toMatch(/\n- and \d+ more; run_linter lists them\n/)
    expect(user).toMatch(/\n\[the lines of \d+ more faults are left out\]\n/)
    const shown = [...user.matchAll(/\[lines (\d+) to (\d+)\]/g)].map(([, first]) => Number(first))
    expect(shown.slice(0, 3)).toEqual([1, 20, 42])
  })

  it('is of a function that is too large the lines around its faults, wherever they are', async () => {
    const body = Array.from({ length: 5_000 }, (_, at) => `    x(${at})\n`).join('')
    const part = `def f(x):\n${body}    y = x == None\n${body}    return y`
    const user = await asked('lint', `${part}\n`, { part })
    expect(user.length).toBeLessThan(limit)
    expect(user).toContain('    x(4999)\n    y = x == None\n    x(0)\n')
  })

  it('is of a function that is too large its head and its end, where no fault is asked for', async () => {
    const body = Array.from({ length: 5_000 }, (_, at) => `    x(${at})\n`).join('')
    const part = `def f(x):\n${body}    return x`
    const user = await asked('docstring', `import os\n\n\n${part}\n`, { part })
    expect(user.length).toBeLessThan(limit)
    expect(user).toMatch(
      /def f\(x\):\n {4}x\(0\)\n[^]*\n\[lines \d+ to \d+ of the file are left out\]\n[^]* {4}return x\n/,
    )
  })

  it('is cut where one line is larger than any prompt', async () => {
    const user = await asked('lint', `x = None\ny = ["${'word '.repeat(100_000)}", x == None]\n`)
    expect(user.length).toBeLessThan(limit)
    expect(user).toContain('characters left out]')
  })
})
