import { describe, expect, it } from 'vitest'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import { sha256 } from '#domain/ids.ts'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { call, scriptedModel, submitting } from './agent/scripted-agent.fixture.ts'
import { openBuiltLayer } from './workspace/built-layer.ts'
import { openOperationBench, type OperationBench } from './operation-bench.fixture.ts'
import { runOperation } from './run-operation.ts'

const never = new AbortController().signal
const { sandbox, lack } = await testSandbox(process.env)

const source = 'def price(row):\n    return row * 2\n'

const runScript = `from typing import Any

from grail import Input, external

code: str = Input("code")
program: str = Input("program", default="python3")


@external
async def write_file(path: str, content: str) -> dict[str, Any]: ...
@external
async def run_command(command: list[str]) -> dict[str, Any]: ...
@external
async def run_tests(paths: list[str]) -> dict[str, Any]: ...


await write_file("src/helper.py", "factor = 3\\n")
if program == "tests":
    await write_file("tests/test_shop.py", code)
    ran = await run_tests(["tests"])
else:
    ran = await run_command([program, "-c", code])
answer = {"result": ran, "summary": "ran", "knowledge_delta": {}, "outcome": "success"}
answer
`

describe.skipIf(lack !== undefined)(`a tool that runs a program${lack === undefined ? '' : ` (${lack})`}`, () => {
  const bench = useOpened(openOperationBench)

  async function running(args: Record<string, unknown>, change: Partial<OperationBench['deps']> = {}) {
    const bundle: AgentBundle = await bench.bundle('lint')
    bundle.file.programs = ['python3']
    const script = { path: 'run.pym', source: runScript }
    bundle.scripts = { ...bundle.scripts, run_it: script }
    const parameters = { type: 'object', properties: { code: { type: 'string' }, program: { type: 'string' } } }
    bundle.tools = [...bundle.tools, { name: 'run_it', description: 'Run it.', parameters }]
    const planned = await bench.planned(bundle, source, 'price')
    const model = scriptedModel([[call('run_it', args)], [submitting('skipped')]])
    const programs = { ...bench.deps.programs, sandbox }
    await runOperation(planned.job, { ...bench.deps, model, programs, ...change }, never)
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
    const operation = await bench.operation(planned)
    const record = await bench.record(operation)
    return { outcome: operation.outcome, result: record.tools[0]?.result }
  }

  it("has the files of the snapshot with its own changes, and its answer is the tool's", async () => {
    const code =
      'import sys; sys.path.insert(0, "src"); import shop, helper; print(shop.price(helper.factor)); sys.exit(4)'
    const { outcome, result } = await running({ code })
    expect(result).toMatchObject({ outcome: 'success', result: { exit_code: 4, output: '6\n', stopped_by: null } })
    expect(outcome).toMatchObject({ status: 'unchanged', changedFiles: [] })
  })

  it('has what another operation has changed before it', async () => {
    const { operationId, node } = aPlannedOperation('price')
    const edits = [{ start: source.indexOf('2'), end: source.indexOf('2') + 1, text: '5' }]
    const change = { kind: 'edit' as const, path: 'src/shop.py', baseHash: sha256(source), edits }
    const ids = { changeSetId: 'c1', operationId, bundle: 'price', nodeId: node.nodeId }
    const code = 'import sys; sys.path.insert(0, "src"); import shop; print(shop.price(1))'
    const { result } = await running(
      { code },
      { startLayer: (_attempt, base) => openBuiltLayer(base, [{ ...ids, evidence: [], files: [change] }]) },
    )
    expect(result).toMatchObject({ result: { exit_code: 0, output: '5\n' } })
  })

  it('runs no program that its bundle does not name', async () => {
    const { result } = await running({ code: 'id', program: 'sh' })
    expect(result?.error).toContain('sh is not allowed: this agent may run python3')
  })

  it('is told before it runs, by the terminal, which changes nothing', async () => {
    const planned = await bench.plannedFile(await bench.bundle('terminal'), source, 'agent')
    const eventsOf = () => bench.ledger.readEvents(planned.runId, { after: 0, limit: 100 })
    const progress = async () =>
      (await eventsOf()).flatMap(({ event, data }) => (event === 'progress.reported' ? [data['action']] : []))
    const why = 'The question asks for it.'
    const [wc, rm] = [
      ['wc', '-l', 'src/shop.py'],
      ['rm', 'src/shop.py'],
    ]
    const scripted = scriptedModel([
      [call('run_command', { command: wc, why })],
      [call('run_command', { command: rm, why })],
      [submitting('success', { changed_files: [] })],
    ])
    const complete: typeof scripted.complete = async (request) => {
      const told = scripted.requests.length
      await until(progress, { holds: ({ length }) => length === told })
      return scripted.complete(request)
    }
    const programs = { ...bench.deps.programs, sandbox }
    await runOperation(planned.job, { ...bench.deps, model: { complete }, programs }, never)
    const operation = await bench.operation(planned)
    expect(operation).toMatchObject({ status: 'unchanged', outcome: { changedFiles: [] } })
    const { tools } = await bench.record(operation)
    expect(tools[0]?.result).toMatchObject({ outcome: 'success', result: { exit_code: 0, output: '2 src/shop.py\n' } })
    expect(tools[1]?.result.error).toContain('rm is not allowed: this agent may run ls, cat')
    expect(await progress()).toEqual(['run wc -l src/shop.py', 'run rm src/shop.py'])
  })

  it('counts tests, and says which failed and why', async () => {
    const code =
      'import unittest, shop\nclass A(unittest.TestCase):\n  def test_good(self): self.assertEqual(shop.price(2), 4)\n  def test_bad(self): self.assertEqual(shop.price(2), 5)\n  @unittest.skip("later")\n  def test_later(self): pass\n'
    const { result } = await running({ code, program: 'tests' })
    expect(result?.result).toMatchObject({ tests: 3, passed: 1, failed: 1, errors: 0, skipped: 1, exit_code: 1 })
    expect(JSON.stringify(result?.result)).toContain('AssertionError: 4 != 5')
  })

  it('is blocked, and nothing is run, where there is no sandbox', async () => {
    const { outcome } = await running({ code: '1' }, { programs: bench.deps.programs })
    expect(outcome).toMatchObject({ status: 'blocked', errorCode: 'TOOL_005', reason: 'bubblewrap is not installed' })
  })
})
