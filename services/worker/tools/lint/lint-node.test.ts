import { describe, expect, it } from 'vitest'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/hash.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { openPythonLinter } from '../../evidence/python-linter.ts'
import { openWorkspace } from '../../workspace/open-workspace.ts'
import { lintFunctions } from '../host/lint-functions.ts'
import { openTargetNode } from '../target-node.ts'

const source =
  'import os\nimport re\n\n\ndef f(x):\n    import json\n    return f"é", re\n\n\ndef g(y):\n    return not y in []\n'
const deps = { linter: openPythonLinter(), python: await loadLanguage('python') }

async function open(kind: string, text: string, path = 'a.py') {
  const start = kind === 'file' ? 0 : source.indexOf(text)
  const end = kind === 'file' ? source.length : source.indexOf('\n\n\n', start) + 1 || source.length
  const node: CodeNode = {
    nodeId: 'n0000000000000000',
    kind,
    name: 'f',
    qualifiedName: 'f',
    path,
    language: 'python',
    startLine: 1,
    endLine: 1,
    startByte: Buffer.byteLength(source.slice(0, start)),
    endByte: Buffer.byteLength(source.slice(0, end)),
    parentId: null,
    hash: '',
  }
  const workspace = openWorkspace({
    find: () => ({ hash: sha256(source) }),
    list: () => [],
    read: async () => Buffer.from(source),
  })
  const target = await openTargetNode(node, workspace)
  const { run_linter: lint, apply_lint_fix: fix } = lintFunctions(workspace, target, deps)
  return { workspace, lint: () => lint?.([]), fix: (code?: string) => fix?.([code]) }
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

  it('fixes one rule in the node and leaves everything else as it is', async () => {
    const { fix, workspace } = await open('function', 'def f')
    expect(await fix('F541')).toMatchObject({ applied: 1, total: 1 })
    expect(await workspace.readText('a.py')).toBe(source.replace('f"é"', '"é"'))
  })

  it('fixes every rule when none is named, after an edit moved the node’s end', async () => {
    const { fix, workspace } = await open('function', 'def f')
    expect(await fix()).toMatchObject({ applied: 2, total: 0 })
    expect(await workspace.readText('a.py')).toBe(source.replace('f"é"', '"é"').replace('    import json\n', ''))
  })

  it('keeps the unused imports of a package’s __init__.py', async () => {
    const { fix, workspace } = await open('file', '', 'pkg/__init__.py')
    expect(await fix('F401')).toMatchObject({ applied: 0, total: 1, fixable: 0 })
    expect(workspace.changedPaths()).toEqual([])
  })
})
