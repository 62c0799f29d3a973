import { afterAll, describe, expect, it } from 'vitest'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { openTestLinter } from '#languages/lint/test-linter.fixture.ts'
import { baseOver } from '../../workspace/base-over.fixture.ts'
import { openWorkspace } from '../../workspace/open-workspace.ts'
import { lintExternals } from '#agents/lint/host/externals.ts'
import { openTargetNode } from '../target-node.ts'

const module =
  'import os\nimport re\n\n\ndef f(x):\n    import json\n    x += 1\n    return f"é", re\n\n\ndef g(y):\n    return not y in []\n'
const linter = await openTestLinter()
afterAll(linter.close)
const deps = { linter, python: await loadLanguage('python') }

type Opened = { path?: string; source?: string }

async function open(kind: string, text: string, { path = 'a.py', source = module }: Opened = {}) {
  const start = kind === 'file' ? 0 : source.indexOf(text)
  const end = kind === 'file' ? source.length : source.indexOf('\n\n\n', start) + 1 || source.length
  const bytes = (index: number) => Buffer.byteLength(source.slice(0, index))
  const place = { path, kind, startByte: bytes(start), endByte: bytes(end) }
  const node = { ...aPlannedOperation('f').node, ...place }
  const workspace = openWorkspace(baseOver({ [path]: source }))
  const target = await openTargetNode(node, workspace, { rules: wideRules })
  const { run_linter: lint, apply_lint_fix: fix } = lintExternals(workspace, target, deps)
  return { workspace, lint, fix: (code?: string) => fix([code]) }
}

describe('linting one node', () => {
  it('shows a function its own faults only', async () => {
    const { lint } = await open('function', 'def f')
    expect(await lint()).toMatchObject({ total: 2, fixable: 2, diagnostics: [{ code: 'F401' }, { code: 'F541' }] })
  })

  it('shows a file what lies outside its definitions', async () => {
    const { lint } = await open('file', '')
    expect(await lint()).toMatchObject({ total: 1, diagnostics: [{ code: 'F401', line: 1 }] })
  })

  it('removes an unused import, and not one that stands in a package or in a function that does little else', async () => {
    const source = 'import os\nfrom a import b\n\n\ndef f():\n    from a import c\n'
    const { fix, workspace } = await open('file', '', { source })
    expect(await fix('F401')).toMatchObject({ applied: 2, total: 0 })
    expect(await workspace.readText('a.py')).toBe('def f():\n    from a import c\n')
    const inside = await open('function', 'def f', { source })
    expect(await inside.fix('F401')).toMatchObject({ applied: 0, total: 1, fixable: 0 })
  })

  it('fixes one rule in the node and leaves everything else as it is', async () => {
    const { fix, workspace } = await open('function', 'def f')
    expect(await fix('F541')).toMatchObject({ applied: 1, total: 1 })
    expect(await workspace.readText('a.py')).toBe(module.replace('f"é"', '"é"'))
  })

  it('fixes every rule when none is named, after an edit moved the node’s end', async () => {
    const { fix, workspace } = await open('function', 'def f')
    expect(await fix()).toMatchObject({ applied: 2, total: 0 })
    expect(await workspace.readText('a.py')).toBe(module.replace('f"é"', '"é"').replace('    import json\n', ''))
  })

  it.each([
    ['def f():\n    import os\n    # why\n    import sys\n'],
    ['def f():\n    if a:\n        import os  # why\n        import sys\n    return "x"\n'],
  ])('leaves the imports of a body that has little else, or that stand under a condition', async (source) => {
    const { fix, workspace } = await open('function', 'def f', { source })
    expect(await fix()).toMatchObject({ applied: 0, fixable: 0 })
    expect(workspace.changedPaths()).toEqual([])
  })

  it('fails with TOOL_006 on a file that cannot be linted', async () => {
    const source = `x = a${'.b()'.repeat(30_000)}\n\n\ndef f():\n    return f"x"\n`
    const { lint } = await open('function', 'def f', { source })
    await expect(lint()).rejects.toMatchObject({ code: 'TOOL_006' })
  })
})
