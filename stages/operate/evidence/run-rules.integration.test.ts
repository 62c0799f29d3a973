import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { defaultTextStyle } from '#domain/path-rules.ts'
import type { Linter } from '#languages/lint/linter.ts'
import { readRepositoryLint } from '#languages/lint/repository-lint.ts'
import { openTestLinter } from '#languages/lint/test-linter.fixture.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { putRepositoryRules } from '#store/objects/repository-rules.ts'
import { aNewRun } from '#testing/open-test-ledger.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import { openRunRules, type RunRules } from './run-rules.ts'

const ruff = `line-length = 88
[lint]
select = ["E", "F", "I", "S101"]
[lint.per-file-ignores]
"tests/*" = ["S101"]
`
const oxlint = JSON.stringify({
  rules: { 'no-var': 'error' },
  overrides: [{ files: ['test/**'], rules: { 'no-var': 'off' } }],
})
const configs = {
  'pyproject.toml': '[project]\nrequires-python = ">=3.11"\n',
  'ruff.toml': ruff,
  '.oxlintrc.json': oxlint,
  '.prettierrc': '{ "printWidth": 90 }',
}

describe('the rules of a run', () => {
  let store: TestObjects
  let linter: Linter
  beforeAll(async () => {
    store = await testObjects()
    linter = await openTestLinter()
  })
  afterAll(async () => {
    await store.close()
    await linter.close()
  })

  /** Of a repository with one Python file, whose rules planning has read. */
  async function rulesOfRun(): Promise<RunRules> {
    const blobs = openBlobStore(store.objects, { maxCacheBytes: 0 })
    const run = aNewRun({ projectId: store.project })
    for (const text of Object.values(configs)) await blobs.put(store.project, Buffer.from(text))
    const files = Object.entries(configs).map(([path, text]) => ({ path, text }))
    const read = await readRepositoryLint({ paths: ['shop/stock.py'], files }, linter)
    const { modules: _, ...ruffTree } = read.ruffTree ?? { key: '', files: {}, modules: [] }
    const { path: _path, ...lint } = read.rulesFor('shop/stock.py').lint
    const rulesKey = await putRepositoryRules(store.objects, run, {
      v: 1,
      shared: [{ lint, text: { ...defaultTextStyle, docstringStyle: 'numpy' } }],
      ruffTree,
      files: { 'shop/stock.py': { rules: 0, keptNames: ['price'], agentRanges: [] } },
      configs: Object.entries(configs).map(([path, text]) => ({ path, hash: sha256(text) })),
    })
    return openRunRules({ objects: store.objects, blobs, linter })({ ...run, rulesKey })
  }

  const long = `x = "${'a'.repeat(120)}"`

  it.each([
    ['shop/labels.py', `import sys\nimport os\n\nassert sys, os\n${long}\n`, ['E501', 'I001', 'S101']],
    ['tests/test_labels.py', `import sys\nimport os\n\nassert sys, os\n${long}\n`, ['E501', 'I001']],
    ['lib/a.js', 'export var a = 1\n', ['no-var']],
    ['test/a.js', 'export var a = 1\n', []],
  ])('hold a new file %s to what the repository asks for in its place', async (path, text, codes) => {
    const { lint, keptNames } = await (await rulesOfRun()).of(path)
    const { diagnostics } = await linter.lint(text, lint)
    expect(diagnostics.map(({ code }) => code).toSorted()).toEqual(codes)
    expect(keptNames).toEqual([])
  })

  it('give a new file the line length that is configured, and the docstrings of the files beside it', async () => {
    const rules = await rulesOfRun()
    expect((await rules.of('shop/labels.py')).text).toMatchObject({ lineLength: 88, docstringStyle: 'numpy' })
    expect((await rules.of('test/a.js')).text).toMatchObject({ lineLength: 90 })
  })

  it('are those of planning for a file that was there', async () => {
    expect(await (await rulesOfRun()).of('shop/stock.py')).toMatchObject({
      lint: { source: 'ruff.toml', path: 'shop/stock.py' },
      keptNames: ['price'],
    })
  })
})
