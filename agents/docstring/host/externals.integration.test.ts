import { expect, it } from 'vitest'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/ids.ts'
import { defaultPathRules, goLintRules } from '#domain/path-rules.ts'
import { testGofmt } from '#languages/go/lint/go-linter.fixture.ts'
import { openTestLinter } from '#languages/lint/test-linter.fixture.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
import { openWorkspace } from '#stages/operate/workspace/open-workspace.ts'
import { openTargetNode } from '#stages/operate/tools/target-node.ts'
import { testEvidence } from '#stages/operate/evidence/test-evidence.fixture.ts'
import { docstringExternals } from './externals.ts'

const { searchPath, lack } = await testGofmt(process.env)
const { linter, syntax } = await testEvidence({ searchPath })

const source = 'package a\n\nvar  rough = 1\n\nfunc Total(a, b int) int {\n  return a + b\n}\n'

/** The file with a doc comment of `Total`, in a run that lints Go. */
async function documented(docstring: string, using = linter): Promise<string> {
  const startByte = source.indexOf('func')
  const node: CodeNode = {
    nodeId: 'n0000000000000000',
    kind: 'function',
    name: 'Total',
    qualifiedName: 'Total',
    path: 'a.go',
    language: 'go',
    startLine: 5,
    endLine: 7,
    startByte,
    endByte: source.length - 1,
    parentId: 'n0000000000000001',
    hash: '',
  }
  const workspace = openWorkspace({
    find: () => ({ hash: sha256(source) }),
    kindAt: () => 'file',
    list: () => [],
    read: async () => Buffer.from(source),
  })
  const target = await openTargetNode(node, workspace, { rules: { ...defaultPathRules, lint: goLintRules } })
  const deps = { linter: using, syntax, python: await loadLanguage('python') }
  await docstringExternals(workspace, target, deps).insert_docstring([docstring])
  return workspace.readText('a.go')
}

it.skipIf(lack !== undefined)(
  'a doc comment of Go is written as gofmt writes it, and the code around stays',
  async () => {
    expect(await documented('Total adds:\n\n- a\n- b')).toBe(
      source.replace('func', '// Total adds:\n//\n//   - a\n//   - b\nfunc'),
    )
  },
)

it('a doc comment of Go is written as it is where a worker has no gofmt', async () => {
  const without = await openTestLinter({ searchPath: '/nowhere' })
  const written = await documented('Total adds:\n\n- a', without)
  await without.close()
  expect(written).toBe(source.replace('func', '// Total adds:\n//\n//   - a\nfunc'))
})
