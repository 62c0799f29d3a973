import { describe, expect, it } from 'vitest'
import { applyEdits } from '#domain/change-set.ts'
import { wideRules } from '#languages/lint/wide-rules.fixture.ts'
import { useOpened } from '#testing/use-opened.ts'
import { call, scriptedModel, submitting, type ScriptedReply } from './agent/scripted-agent.fixture.ts'
import { openOperationBench, type Planned } from './operation-bench.fixture.ts'
import { runOperation } from './run-operation.ts'

const never = new AbortController().signal
const shelf = 'def shelf(row):\n    if row == None:\n        return f"ä"\n    return f"b"'
const source = `import socket\nimport os\n\n\nx = f"c" and os == None\n\n\n${shelf}\n\n\ndef price(row):\n    return f"d"\n`

describe('safe fixes in what an agent works on', () => {
  const bench = useOpened(openOperationBench)

  const bytesOf = (text: string, part: string) => {
    const startByte = Buffer.byteLength(text.slice(0, text.indexOf(part)))
    return { startByte, endByte: startByte + Buffer.byteLength(part) }
  }

  /** The agents' parts of the file: `own` are those of `ownerId`, by default the operation; `others` those of other nodes. */
  type Ranges = { own?: string; others?: string[]; ownerId?: string }

  async function work(planned: Planned, replies: ScriptedReply[], ranges: Ranges) {
    const { own, others = [], ownerId = planned.job.operationId } = ranges
    const { text } = planned.file
    const agentRanges = [
      ...(own === undefined ? [] : [{ operationId: ownerId, ...bytesOf(text, own) }]),
      ...others.map((part) => ({ operationId: 'another', ...bytesOf(text, part) })),
    ]
    const model = scriptedModel(replies)
    const runRules = async () => ({ of: async () => wideRules, agentRanges: () => agentRanges })
    await runOperation(planned.job, { ...bench.deps, model, runRules }, never)
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
    const { outcome } = await bench.operation(planned)
    const record = await bench.record(await bench.operation(planned))
    const [change] = record.changeSet?.files ?? []
    const edits = change?.kind === 'edit' ? change.edits : []
    const after = Buffer.from(applyEdits(Buffer.from(text), edits)).toString()
    return { outcome, record, after, prompt: model.requests[0]?.messages[1]?.content ?? '' }
  }

  const onShelf = async (text = source) => bench.planned(await bench.bundle('lint'), text, 'shelf')
  const onFile = async () => bench.plannedFile(await bench.bundle('lint'), source, 'agent')
  const skipping = [[submitting('skipped')]]

  it('are made before it begins: it is shown the rest, and they stay when it has nothing to add', async () => {
    const { outcome, record, after, prompt } = await work(await onShelf(), skipping, { own: shelf })
    expect(prompt).toContain('Its faults:\n- line 9, column 15: E711')
    expect(prompt).not.toContain('F541')
    expect(after).toBe(source.replace('f"ä"', '"ä"').replace('f"b"', '"b"'))
    expect(outcome).toMatchObject({ status: 'succeeded', turns: 1, changedFiles: ['src/shop.py'], leavesWork: true })
    const { evidence } = (await bench.bundle('lint')).file
    expect(record.changeSet?.evidence.map(({ check, ok }) => [check, ok])).toEqual(evidence.map((one) => [one, true]))
  })

  it('are one change set with what it mends itself', async () => {
    const mending = [[call('edit_node', { text: '    if row is None:', start_line: 9 })]]
    const { outcome, after } = await work(await onShelf(), mending, { own: shelf })
    expect(after).toBe(source.replace('f"ä"', '"ä"').replace('f"b"', '"b"').replace('row == None', 'row is None'))
    expect(outcome).toMatchObject({ status: 'succeeded', turns: 1 })
    expect(outcome?.leavesWork).toBeUndefined()
  })

  it('are not kept where it says that it failed', async () => {
    const { outcome, record } = await work(await onShelf(), [[submitting('failed')]], { own: shelf })
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'AGENT_011', changedFiles: [], leavesWork: true })
    expect(record.changeSet).toBeNull()
  })

  it('are left out where they would have to change what lies outside of it', async () => {
    const part =
      'def shelf(row):\n    try:\n        row()\n    except socket.error:\n        row(f"a")\n    return row == None'
    const text = `import socket\n\n\n${part}\n`
    const { outcome, after } = await work(await onShelf(text), skipping, { own: part })
    expect(outcome?.status).toBe('succeeded')
    expect(after).toBe(text.replace('f"a"', '"a"'))
  })

  it('are of a file those in its own statements, not those in the functions of other agents', async () => {
    const { after, prompt } = await work(await onFile(), skipping, { own: 'x = f"c" and os == None', others: [shelf] })
    expect(after).toBe(source.replace('f"c"', '"c"'))
    expect(prompt).toContain('Its faults:\n- line 5, column 19: E711')
    expect(prompt).not.toContain('F401')
  })

  it('are made anew where the operation runs once more, in the same part of the file and nowhere else', async () => {
    const planned = await onFile()
    const ranges = { own: 'x = f"c" and os == None', others: [shelf] }
    await work(planned, skipping, ranges)
    const again = { ...planned, job: await bench.repeatedOne(planned) }
    const { outcome, after, prompt } = await work(again, skipping, { ...ranges, ownerId: planned.job.operationId })
    expect(outcome?.status).toBe('succeeded')
    expect(after).toBe(source.replace('f"c"', '"c"'))
    expect(prompt).toContain('Its faults:\n- line 5, column 19: E711')
    expect(prompt).not.toContain('F401')
  })

  it('are not made in a node that no agent is given for its faults', async () => {
    const { outcome, prompt } = await work(await onShelf(), skipping, { others: ['x = f"c" and os == None'] })
    expect(outcome).toMatchObject({ status: 'unchanged' })
    expect(prompt).toContain('F541')
  })

  it('do not let a file’s agent change what is not its own', async () => {
    const mending = [[call('edit_node', { text: '    return "d"', start_line: 15 })], [submitting()]]
    const { outcome } = await work(await onFile(), mending, { own: 'x = f"c" and os == None', others: [shelf] })
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'WORK_005', changedFiles: [] })
    expect(outcome?.reason).toContain('only_node_changed')
  })
})
