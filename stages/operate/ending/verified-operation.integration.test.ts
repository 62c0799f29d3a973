import { describe, expect, it } from 'vitest'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { RunId } from '#domain/ids.ts'
import { submitTool } from '#bundles/tool-definition.ts'
import { useOpened } from '#testing/use-opened.ts'
import { call, scriptedModel, submitting, type ScriptedReply } from '../agent/scripted-agent.fixture.ts'
import { openOperationBench } from '../operation-bench.fixture.ts'
import { runOperation } from '../run-operation.ts'

const never = new AbortController().signal
const source = 'def shelf(row):\n    return row\n'
const sound = '# A shelf.\n'
const linty = 'import os\n\n\n'
const torn = 'def torn(:\n'
const script = `from typing import Any

from grail import Input, external

file_path: str = Input("file_path")
text: str = Input("text")


@external
async def write_file(path: str, content: str) -> dict[str, Any]: ...


await write_file(file_path, text)
answer = {"result": None, "summary": "written", "knowledge_delta": {}, "outcome": "success"}
answer
`

const write = (start: string) => [call('write', { text: start + source })]
const submit = (...changed: string[]) => [submitting('success', { changed_files: changed })]

describe('an operation whose success is verified when it is claimed', () => {
  const bench = useOpened(openOperationBench)

  async function writing(): Promise<AgentBundle> {
    const parameters = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
    return {
      ...(await bench.bundle('lint')),
      tools: [{ name: 'write', description: 'Write.', parameters }, submitTool],
      scripts: { write: { path: 'write/write.pym', source: script } },
      hostInputs: { write: ['file_path'] },
    }
  }

  /** `checked` is how often a file was proved. */
  async function run(replies: ScriptedReply[]) {
    const planned = await bench.planned(await writing(), source, 'shelf')
    let checked = 0
    const check: typeof bench.deps.evidence.check = (...given) => {
      checked += 1
      return bench.deps.evidence.check(...given)
    }
    const model = scriptedModel(replies)
    await runOperation(planned.job, { ...bench.deps, model, evidence: { check } }, never)
    const operation = await bench.operation(planned)
    const record = await bench.record(operation)
    const events = await bench.ledger.readEvents(planned.runId, { after: 0, limit: 1000 })
    const said = record.messages.flatMap((one) => (one.role === 'tool' ? [one.content] : []))
    const received = events.filter(({ event }) => event === 'submission.received')
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
    const { runId } = planned
    return {
      runId,
      outcome: operation.outcome,
      record,
      said,
      received,
      checked: () => checked,
      requests: model.requests,
    }
  }

  /** The result of the run's only operation in the results stream, as JSON. */
  async function resultOf(runId: RunId): Promise<string> {
    await bench.ledger.relayResults(runId)
    const entries = await bench.redis.xrange(`${bench.namespace}:results`, '-', '+')
    const fields = entries.map(([, values]) => values).find((values) => values.includes(runId)) ?? []
    return fields[fields.indexOf('result') + 1] ?? ''
  }

  it('is proved once, and settled with that proof', async () => {
    const { outcome, record, checked } = await run([write(sound), submit('./src/shop.py')])
    expect(outcome).toMatchObject({ status: 'succeeded', changedFiles: ['src/shop.py'] })
    expect(record.changeSet?.evidence.map(({ check, ok }) => [check, ok])).toEqual(
      (await bench.bundle('lint')).file.evidence.map((check) => [check, true]),
    )
    expect(checked()).toBe(1)
  })

  it('goes back to the model where the evidence is missing, and is proved anew when that was put right', async () => {
    const { outcome, said, received, checked } = await run([write(linty), submit(), submit(), write(sound), submit()])
    expect(outcome).toMatchObject({ status: 'succeeded', turns: 5 })
    const failed =
      'Verification failed: lint_before_after failed for src/shop.py (0 before, 1 after): ' +
      'new: line 1: F401 `os` imported but unused'
    expect(said.filter((text) => text === failed)).toHaveLength(2)
    expect(received.map(({ errorCode }) => errorCode)).toEqual(['WORK_005', 'WORK_005', undefined])
    expect(checked()).toBe(2)
  })

  it.each([
    ['WORK_004', torn],
    ['WORK_005', linty],
  ])('fails with %s when it is not put right', async (code, start) => {
    const { outcome, record, said, requests } = await run([write(start), submit()])
    expect(outcome).toMatchObject({ status: 'failed', errorCode: code, phase: 'submission', changedFiles: [] })
    expect(said.at(-1)).toBe(`Verification failed: ${outcome?.reason}`)
    expect(requests).toHaveLength(4)
    expect(record.changeSet).toBeNull()
  })

  it('counts for what was changed when it goes on naming more', async () => {
    const { runId, outcome, said, received } = await run([write(sound), submit('src/shop.py', 'other.py')])
    expect(outcome).toMatchObject({ status: 'succeeded', changedFiles: ['src/shop.py'] })
    expect(said.at(-2)).toBe(
      'Verification failed: changed_files names other.py, not changed here (changed: src/shop.py)',
    )
    expect(received.at(-1)?.data).toMatchObject({ status: 'success', claimed_unchanged: ['other.py'] })
    const details = { claimed_unchanged: ['other.py'] }
    expect(JSON.parse(await resultOf(runId))).toMatchObject({ changed_files: ['src/shop.py'], details })
  })
})
