import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyEdits } from '#domain/change-set.ts'
import { openOperationBench, type OperationBench, type Planned } from './operation-bench.fixture.ts'
import { runOperation } from './run-operation.ts'

const never = new AbortController().signal
const guide = `# Guide

## Start

Read the the [parts](#partz) in order to start.

\`\`\`
$ run
\`\`\`

#### Parts

There are [others](gone.md).
`

describe('an operation on an article', () => {
  let bench: OperationBench
  beforeAll(async () => {
    bench = await openOperationBench()
  })
  afterAll(() => bench.close())

  async function endOf({ job, ...planned }: Planned) {
    const operation = await bench.operation({ job, ...planned })
    const { tools, changeSet } = await bench.record(operation)
    const [change] = changeSet?.files ?? []
    const edits = change?.kind === 'edit' ? change.edits : []
    return {
      outcome: operation.outcome,
      tools: tools.map(({ name, result: { outcome } }) => `${name} ${outcome}`),
      evidence: changeSet?.evidence.map(({ check, ok }) => `${check} ${ok}`),
      text: Buffer.from(applyEdits(Buffer.from(planned.file.text), edits)).toString(),
    }
  }

  it('mends a section with every tool, proves that only its wording changed, and leaves the next one alone', async () => {
    const planned = await bench.plannedSection(await bench.bundle('article_section'), guide, '## Start')
    await runOperation(planned.job, bench.deps, never)
    const { outcome, tools, evidence, text } = await endOf(planned)
    expect(outcome).toMatchObject({ status: 'succeeded', changedFiles: ['docs/guide.md'] })
    expect(tools).toEqual(['read_section success', 'mend_section success', 'edit_section success'])
    expect(evidence).toEqual(['parses true', 'prose_kept true', 'only_node_changed true', 'says_something false'])
    const mended = guide
      .replace('the the [parts](#partz) in order to', 'the [parts](#parts) to')
      .replace('```\n$', '```console\n$')
    expect(text).toBe(mended)
  })

  it('leaves what may be mended in several ways to a person', async () => {
    const planned = await bench.plannedSection(
      await bench.bundle('article_section'),
      guide.replace('#### Parts', '### Parts'),
      '### Parts',
    )
    await runOperation(planned.job, bench.deps, never)
    expect(await endOf(planned)).toMatchObject({
      outcome: { status: 'unchanged', summary: 'Nothing was mended. 1 fault is left.' },
      tools: ['read_section success'],
    })
  })

  async function asked(): Promise<Planned> {
    const planned = await bench.plannedSection(await bench.bundle('article_summary'), guide, '# Guide')
    await runOperation(planned.job, bench.deps, never)
    expect(await bench.operation(planned)).toMatchObject({ status: 'waiting' })
    return planned
  }

  async function answer(planned: Planned, requestId: string, text: string): Promise<void> {
    const by = { kind: 'human', id: 'tester' } as const
    await bench.ledger.resume(planned.runId, { requestId, text, by, command: `answer ${requestId}` })
    const [job] = (await bench.ledger.dispatch(planned.runId, 1)).taken
    if (job === undefined) throw new Error('nothing was dispatched')
    await runOperation({ runId: planned.runId, ...job }, bench.deps, never)
  }

  it.each([
    ['use', 'This article is about Guide: Start, Parts.'],
    ['It says how to start with 12 parts. ', 'It says how to start with 12 parts.'],
  ])('waits for a person before it writes a summary, and writes what the person says: %s', async (text, written) => {
    const planned = await asked()
    await answer(planned, 'q1', text)
    const end = await endOf(planned)
    expect(end).toMatchObject({
      outcome: { status: 'succeeded' },
      evidence: ['parses true', 'summary_only true', 'says_something false'],
    })
    expect(end.tools).toEqual(['read_article success', 'write_summary success'])
    expect(end.text).toBe(guide.replace('# Guide\n', `# Guide\n\n${written}\n`))
  })

  it('writes nothing where the person leaves the article as it is', async () => {
    const planned = await asked()
    await answer(planned, 'q1', 'Leave')
    expect((await endOf(planned)).outcome).toMatchObject({
      status: 'unchanged',
      summary: 'A person left the article as it is.',
    })
  })

  it('asks again when the text of the person is no summary', async () => {
    const planned = await asked()
    await answer(planned, 'q1', '# No')
    expect(await bench.operation(planned)).toMatchObject({ status: 'waiting' })
    await answer(planned, 'q2', 'It says how to start.')
    expect((await endOf(planned)).text).toContain('# Guide\n\nIt says how to start.\n\n## Start')
  })
})
