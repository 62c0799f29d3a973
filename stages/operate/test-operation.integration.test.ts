import { describe, expect, it } from 'vitest'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import { testChecks } from '#domain/checks.ts'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import { useOpened } from '#testing/use-opened.ts'
import { call, scriptedModel, submitting } from './agent/scripted-agent.fixture.ts'
import { openOperationBench, type OperationBench } from './operation-bench.fixture.ts'
import { runOperation } from './run-operation.ts'

const never = new AbortController().signal
const { sandbox, lack } = await testSandbox(process.env)

const source = 'def price(count: int) -> int:\n    if count > 10:\n        return count * 2\n    return count * 3\n'

/** A tool that writes a file of tests without running them. */
const writing = `from typing import Any

from grail import Input, external

text: str = Input("text")


@external
async def write_file(path: str, content: str) -> dict[str, Any]: ...


await write_file("tests/test_shop.py", text)
answer = {"result": None, "summary": "written", "knowledge_delta": {}, "outcome": "success"}
answer
`
const asserting = (value: number) =>
  `import unittest\n\nfrom shop import price\n\n\nclass PriceTest(unittest.TestCase):\n    def test_few(self):\n        self.assertEqual(price(1), ${value})\n`

describe.skipIf(lack !== undefined)(`an operation that writes tests${lack === undefined ? '' : ` (${lack})`}`, () => {
  const bench = useOpened(openOperationBench)

  async function running(bundle: AgentBundle, deps: Partial<OperationBench['deps']> = {}) {
    const planned = await bench.planned(bundle, source, 'price')
    await runOperation(planned.job, { ...bench.deps, programs: { ...bench.deps.programs, sandbox }, ...deps }, never)
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
    const operation = await bench.operation(planned)
    return { outcome: operation.outcome, record: await bench.record(operation) }
  }

  async function writingBundle(change: (bundle: AgentBundle) => void = () => {}): Promise<AgentBundle> {
    const bundle = await bench.bundle('test')
    bundle.scripts = { ...bundle.scripts, write_blindly: { path: 'write.pym', source: writing } }
    const parameters = { type: 'object', properties: { text: { type: 'string' } } }
    bundle.tools = [...bundle.tools, { name: 'write_blindly', description: 'Write it.', parameters }]
    change(bundle)
    return bundle
  }

  it('uses every tool of the bundle, and its evidence says what ran, how often, and which faults were noticed', async () => {
    const { outcome, record } = await running(await bench.bundle('test'))
    expect(outcome).toMatchObject({ status: 'succeeded', changedFiles: ['tests/test_shop.py'] })
    expect(record.tools.map(({ name, result }) => `${name} ${result.outcome}`)).toEqual([
      'read_target success',
      'try_code success',
      'write_tests partial',
    ])
    const evidence = record.changeSet?.evidence ?? []
    expect(evidence.map(({ check, ok }) => `${check} ${ok}`)).toEqual(
      ['parses', 'lint_before_after', 'line_length', ...testChecks].map((check) => `${check} true`),
    )
    expect(evidence.at(-1)).toMatchObject({ tool: 'unittest', before: 8 })
    expect(evidence.at(-1)?.after).toBeGreaterThan(4)
    const [file] = record.changeSet?.files ?? []
    expect(file).toMatchObject({ kind: 'create', content: expect.stringContaining('self.assertEqual(price(3), 9)') })
  })

  it('does not state that unpacking refuses what no caller gives', async () => {
    const text = 'def size(pair):\n    width, height = pair\n    return width * height\n'
    const planned = await bench.planned(await bench.bundle('test'), text, 'size')
    await runOperation(planned.job, { ...bench.deps, programs: { ...bench.deps.programs, sandbox } }, never)
    const [file] = (await bench.record(await bench.operation(planned))).changeSet?.files ?? []
    expect(file).toMatchObject({
      kind: 'create',
      content: expect.stringContaining('self.assertEqual(size([1, 2]), 2)'),
    })
    expect(file).toMatchObject({ content: expect.not.stringContaining('assertRaises') })
  })

  it('gets a submission back whose tests fail, with what they said, and may mend them', async () => {
    const model = scriptedModel([
      [call('write_blindly', { text: asserting(4) })],
      [submitting('success')],
      [call('write_blindly', { text: asserting(3) })],
      [submitting('success')],
    ])
    const { outcome, record } = await running(await writingBundle(), { model })
    expect(outcome).toMatchObject({ status: 'succeeded', turns: 4 })
    const refused = record.tools.find(({ name }) => name === 'submit_result')
    expect(refused?.result.error).toContain('tests_pass failed for tests/test_shop.py (0 before, 0 after)')
    expect(refused?.result.error).toContain('AssertionError: 3 != 4')
  })

  it('is blocked before a model is asked for anything where there is no sandbox', async () => {
    const { outcome, record } = await running(await bench.bundle('test'), { programs: bench.deps.programs })
    const blocked = { status: 'blocked', errorCode: 'TOOL_005', reason: 'bubblewrap is not installed' }
    expect(outcome).toMatchObject({ ...blocked, turns: 0 })
    expect(record.changeSet).toBeNull()
  })

  it('works in one turn for models that cannot plan', async () => {
    const bundle = await bench.bundle('test')
    bundle.file.turns = 'one'
    const model = scriptedModel([[call('write_tests', { text: asserting(3) })]])
    const { outcome, record } = await running(bundle, { model })
    expect(outcome).toMatchObject({ status: 'succeeded', turns: 1 })
    expect(record.tools.map(({ name }) => name)).toEqual(['read_target', 'write_tests'])
  })
})
