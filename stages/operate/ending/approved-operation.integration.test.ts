import { describe, expect, it } from 'vitest'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import { newToken } from '#domain/ids.ts'
import type { ApprovalVerdict } from '#domain/question.ts'
import { submitTool } from '#bundles/tool-definition.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openOperationBench, type Planned } from '../operation-bench.fixture.ts'
import { runOperation } from '../run-operation.ts'

const never = new AbortController().signal
const source = 'def shelf(row):\n    return row\n'
const script = `
from typing import Any
from grail import Input, external

file_path: str = Input("file_path")

@external
async def read_file(path: str) -> str: ...
@external
async def write_file(path: str, content: str) -> dict[str, Any]: ...

await write_file(file_path, "# Seen.\\n" + await read_file(file_path))
answer = {"result": None, "summary": "stamped", "knowledge_delta": {}, "outcome": "success"}
answer
`

describe('an operation whose tool waits for approval', () => {
  const bench = useOpened(openOperationBench)

  async function gated(): Promise<AgentBundle> {
    const bundle = await bench.bundle('lint')
    const tool = { name: 'stamp', description: 'Stamp it.' }
    const inYaml = {
      ...tool,
      script: 'tools/stamp.pym',
      submits: false,
      inputs_override: {},
      approval: 'required' as const,
    }
    return {
      ...bundle,
      file: { ...bundle.file, tools: [inYaml, { builtin: 'submit_result' }] },
      tools: [{ ...tool, parameters: { type: 'object', properties: {}, required: [] } }, submitTool],
      scripts: { stamp: { path: 'ask/stamp.pym', source: script } },
      hostInputs: { stamp: ['file_path'] },
    }
  }

  const work = ({ job }: Planned) => runOperation(job, bench.deps, never)

  async function answer({ runId }: Planned, verdict: ApprovalVerdict): Promise<void> {
    const by = { kind: 'human', id: 'tester' } as const
    const questions = await bench.ledger.listQuestions(runId)
    await bench.ledger.resume(runId, { requestId: `q${questions.length}`, text: '', verdict, by, command: newToken() })
  }

  async function dispatched(planned: Planned): Promise<Planned> {
    const [taken] = (await bench.ledger.dispatch(planned.runId, 1)).taken
    if (taken === undefined) throw new Error('nothing was dispatched')
    return { ...planned, job: { runId: planned.runId, ...taken } }
  }

  const eventsOf = async ({ runId }: Planned, name: string) =>
    (await bench.ledger.readEvents(runId, { after: 0, limit: 1_000 })).filter(({ event }) => event === name)

  it('asks once, and calls once, when the worker that had the answer is killed before the call', async () => {
    const planned = await bench.planned(await gated(), source, 'shelf')
    await work(planned)
    expect(await bench.operation(planned)).toMatchObject({ status: 'waiting', attempt: 1, waitsFor: 'q1' })
    expect(await eventsOf(planned, 'tool.returned')).toEqual([])
    await answer(planned, 'allow')
    const killed = await dispatched(planned)
    await bench.ledger.claim(killed.job, 'token-of-the-killed')
    await bench.redis.zadd(runKeys(bench.namespace, planned.runId).leases, 'XX', 1, killed.job.operationId)
    await bench.ledger.sweep(planned.runId)

    await work(await dispatched(planned))
    const operation = await bench.operation(planned)
    expect(operation).toMatchObject({ status: 'succeeded', attempt: 3 })
    expect((await bench.record(operation)).tools.map(({ name }) => name)).toEqual(['stamp'])
    expect(await eventsOf(planned, 'human_input.requested')).toHaveLength(1)
    expect(await eventsOf(planned, 'tool.returned')).toHaveLength(1)
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })

  it.each([
    ['allow', 2],
    ['allow_for_run', 1],
  ] as const)('does its work once more after %s, and has asked %i times', async (verdict, times) => {
    const planned = await bench.planned(await gated(), source, 'shelf')
    await work(planned)
    await answer(planned, verdict)
    await work(await dispatched(planned))
    const again = { ...planned, job: await bench.repeatedOne(planned) }
    await work(again)
    expect(await eventsOf(planned, 'human_input.requested')).toHaveLength(times)
    expect((await bench.operation(again)).status).toBe(times === 1 ? 'succeeded' : 'waiting')
  })
})
