import { describe, expect, it } from 'vitest'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { Question } from '#domain/question.ts'
import { applyEdits } from '#domain/change-set.ts'
import { submitTool } from '#bundles/tool-definition.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { getUnfinishedAttempt, putUnfinishedAttempt } from '#store/objects/stored-records.ts'
import { SuspendedAttempt, WaitingScript } from '#store/objects/attempt-record.ts'
import { openScriptPool } from '#tool-scripts/script-pool.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openOperationBench, type Planned } from '../operation-bench.fixture.ts'
import { runOperation } from '../run-operation.ts'

const never = new AbortController().signal
const source = 'def shelf(row):\n    return row\n'
const human = { kind: 'human', id: 'tester' } as const
const script = `
from typing import Any
from grail import Input, external

file_path: str = Input("file_path")

@external
async def read_file(path: str) -> str: ...
@external
async def write_file(path: str, content: str) -> dict[str, Any]: ...
@external
async def ask_user(question: str, choices: list[str] | None = None) -> str: ...

await write_file(file_path, "import os\\n\\n\\n" + await read_file(file_path))
name = await ask_user("What is it?", ["rack", "board"])
text = (await read_file(file_path)).replace("import os\\n\\n\\n", f"# A {name}.\\n")
await write_file(file_path, text)
why = await ask_user(f"Why a {name}?")
await write_file(file_path, text.replace("return row", "return row  # " + why))
answer = {"result": name, "summary": f"named {name}", "knowledge_delta": {}, "outcome": "success"}
answer
`

describe('an operation whose tool asks a person', () => {
  const bench = useOpened(openOperationBench)

  async function asking(text = script): Promise<AgentBundle> {
    const bundle = await bench.bundle('lint')
    const parameters = { type: 'object', properties: {}, required: [] }
    return {
      ...bundle,
      tools: [{ name: 'name_it', description: 'Ask for a name.', parameters }, submitTool],
      scripts: { name_it: { path: 'ask/name_it.pym', source: text } },
      hostInputs: { name_it: ['file_path'] },
    }
  }

  /** As another worker would: its own script processes. */
  async function work({ job }: Planned): Promise<void> {
    const scripts = openScriptPool({ size: 1 })
    await runOperation(job, { ...bench.deps, scripts }, never)
    await scripts.close()
  }

  async function openQuestion({ runId }: Planned): Promise<Question> {
    const open = (await bench.ledger.listQuestions(runId)).filter(({ status }) => status === 'open')
    expect(open).toHaveLength(1)
    const [question] = open
    if (question === undefined) throw new Error('nobody asks')
    return question
  }

  /** Answers the open question and dispatches the operation again. */
  async function answer(planned: Planned, text: string): Promise<Planned> {
    const { requestId } = await openQuestion(planned)
    await bench.ledger.resume(planned.runId, { requestId, text, by: human, command: `answer ${requestId}` })
    const [taken] = (await bench.ledger.dispatch(planned.runId, 1)).taken
    if (taken === undefined) throw new Error('nothing was dispatched')
    return { ...planned, job: { runId: planned.runId, ...taken } }
  }

  it('waits without a process, and goes on twice with what it had done and nothing done again', async () => {
    const planned = await bench.planned(await asking(), source, 'shelf')
    await work(planned)
    expect(await bench.operation(planned)).toMatchObject({ status: 'waiting', attempt: 1, waitsFor: 'q1' })
    expect(await openQuestion(planned)).toMatchObject({ text: 'What is it?', choices: ['rack', 'board'] })

    const second = await answer(planned, 'rack')
    await work(second)
    expect(await openQuestion(planned)).toMatchObject({ requestId: 'q2', text: 'Why a rack?', choices: null })

    await work(await answer(second, 'it holds'))
    const operation = await bench.operation(planned)
    expect(operation).toMatchObject({ status: 'succeeded', attempt: 3, suspensionHash: null, outcome: { turns: 2 } })
    const record = await bench.record(operation)
    const [run] = record.tools
    expect(record.tools).toHaveLength(1)
    expect(record.exchanges.map(({ turn }) => turn)).toEqual([1, 2])
    expect(record.exchanges[0]?.startedAt).toBeLessThan(record.startedAt)
    expect(run?.externals.map(({ name }) => name)).toEqual([
      'read_file',
      'write_file',
      'ask_user',
      'read_file',
      'write_file',
      'ask_user',
      'write_file',
    ])
    const [change] = record.changeSet?.files ?? []
    const edits = change?.kind === 'edit' ? change.edits : []
    expect(Buffer.from(applyEdits(Buffer.from(source), edits)).toString()).toBe(
      '# A rack.\ndef shelf(row):\n    return row  # it holds\n',
    )
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
    const events = await bench.ledger.readEvents(planned.runId, { after: 0, limit: 1000 })
    expect(events.filter(({ event }) => event === 'model.requested')).toHaveLength(2)
  })

  it('goes on with what it had renamed and made executable', async () => {
    const renaming = `from typing import Any
from grail import Input, external
file_path: str = Input("file_path")
@external
async def rename_file(path: str, new_path: str) -> dict[str, Any]: ...
@external
async def write_file(path: str, content: str, executable: bool | None = None) -> dict[str, Any]: ...
@external
async def ask_user(question: str) -> str: ...
await rename_file(file_path, "src/rack.py")
await write_file("run.sh", "#!\\n", True)
name = await ask_user("What is it?")
await write_file("src/name.txt", name)
answer = {"result": name, "summary": f"named {name}", "knowledge_delta": {}, "outcome": "success"}
answer
`
    const bundle = await asking(renaming)
    const file = { ...bundle.file, evidence: ['parses' as const] }
    const planned = await bench.planned({ ...bundle, file }, source, 'shelf')
    await work(planned)
    await work(await answer(planned, 'rack'))
    const { changeSet } = await bench.record(await bench.operation(planned))
    expect(changeSet?.files).toEqual([
      { kind: 'create', path: 'run.sh', content: '#!\n', executable: true },
      { kind: 'create', path: 'src/name.txt', content: 'rack' },
      { kind: 'create', path: 'src/rack.py', content: source },
      { kind: 'delete', path: 'src/shop.py', baseHash: planned.file.hash },
    ])
    expect(changeSet?.evidence.map(({ path, check, ok }) => [path, check, ok])).toContainEqual([
      'src/shop.py',
      'parses',
      true,
    ])
  })

  it.each<[string, string, (waiting: WaitingScript) => Partial<WaitingScript>]>([
    ['its script is another', 'ASK_004', () => ({ scriptHash: 'another' })],
    ['it did something else before', 'ASK_004', ({ journal }) => ({ journal: journal.slice(1) })],
    ['it asked something else', 'ASK_004', () => ({ asked: { name: 'ask_user', args: ['Who is it?', null] } })],
  ])('fails when %s (%s)', async (_what, errorCode, change) => {
    const planned = await bench.planned(await asking(), source, 'shelf')
    await work(planned)
    const { suspensionHash, operationId } = await bench.operation(planned)
    const { projectId } = await bench.ledger.getRun(planned.runId)
    const { objects } = bench.deps
    const kept = SuspendedAttempt.parse(await getUnfinishedAttempt(objects, projectId, suspensionHash ?? ''))
    const waiting = WaitingScript.parse(kept.waiting)
    const changed = { ...kept, waiting: { ...waiting, ...change(waiting) } }
    const hash = await putUnfinishedAttempt(objects, projectId, changed)
    await bench.redis.hset(runKeys(bench.namespace, planned.runId).operation(operationId), 'suspension', hash)
    await work(await answer(planned, 'rack'))
    expect(await bench.operation(planned)).toMatchObject({ status: 'failed', outcome: { errorCode } })
  })

  it('fails when the stored state to continue from is missing', async () => {
    const planned = await bench.planned(await asking(), source, 'shelf')
    await work(planned)
    const { operationId } = await bench.operation(planned)
    const lost = 'f'.repeat(64)
    await bench.redis.hset(runKeys(bench.namespace, planned.runId).operation(operationId), 'suspension', lost)
    await work(await answer(planned, 'rack'))
    expect(await bench.operation(planned)).toMatchObject({ status: 'failed', outcome: { errorCode: 'STORE_003' } })
  })
})
