import { describe, expect, it } from 'vitest'
import type { ModelReply, ModelRequest } from '#domain/turn.ts'
import { fromOpenAi } from '#models/wire/from-openai.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openOperationBench } from './operation-bench.fixture.ts'
import { runOperation } from './run-operation.ts'

const source = `def before():
    """Stand before it."""


def shelf(row):
    return f"shelf"
`
const never = new AbortController().signal

describe('an operation of one turn', () => {
  const bench = useOpened(openOperationBench)

  async function oneTurn() {
    const bundle = await bench.bundle('docstring')
    bundle.file.turns = 'one'
    return bundle
  }

  async function runOnce(name: string, model = bench.deps.model) {
    const planned = await bench.planned(await oneTurn(), source, name)
    await runOperation(planned.job, { ...bench.deps, model }, never)
    const events = await bench.ledger.readEvents(planned.runId, { after: 0, limit: 1000 })
    return { operation: await bench.operation(planned), events }
  }

  it('asks once for the text, and proves it as any other', async () => {
    const { operation, events } = await runOnce('shelf')
    expect(operation.outcome).toMatchObject({ status: 'succeeded', turns: 1, changedFiles: ['src/shop.py'] })
    const record = await bench.record(operation)
    expect(record.replies).toHaveLength(1)
    expect(record.messages[0]?.content).not.toContain('submit')
    expect(record.changeSet?.evidence.map(({ ok }) => ok)).toEqual(
      (await oneTurn()).file.evidence.map((check) => check !== 'says_something'), // the rehearsal model wrote it
    )
    expect(events.filter(({ event }) => event === 'model.requested')).toMatchObject([
      { data: { tool_choice: 'write_docstring', messages: 2 } },
    ])
    const calls = events.flatMap(({ event, toolName }) => (event === 'tool.called' ? [toolName] : []))
    expect(calls).toEqual(['write_docstring'])
    const documented = await runOnce('before')
    expect(documented.operation.outcome).toMatchObject({ status: 'failed', errorCode: 'AGENT_011', turns: 1 })
  })

  /** With a server that answers the arguments alone. */
  async function runSaying(said: string) {
    const asked: ModelRequest[] = []
    const complete = async (request: ModelRequest): Promise<ModelReply> => {
      asked.push(request)
      const raw = { choices: [{ message: { content: JSON.stringify({ docstring: said }) }, finish_reason: 'stop' }] }
      return { ...fromOpenAi(raw, request), endpoint: 'played', tries: 1, latencyMs: 1 }
    }
    const { operation } = await runOnce('shelf', { ...bench.deps.model, complete })
    return { operation, asked }
  }

  it.each([
    ['The function `shelf` is used to name the shelf of a row.', 'Name the shelf of a row.'],
    ['The function `shelf` names the shelf of a row.', 'Names the shelf of a row.'],
    ['Name the shelf of a row.', 'Name the shelf of a row.'],
  ])('makes a docstring of a sentence about the code: %s', async (said, text) => {
    const { operation, asked } = await runSaying(said)
    const properties = asked[0]?.argumentsOf?.parameters['properties']
    expect(properties).toMatchObject({ docstring: { type: 'string', maxLength: 120 } })
    expect(asked[0]?.messages[1]?.content).toContain('Describe the function `shelf` in one sentence.')
    expect(operation.outcome).toMatchObject({ status: 'succeeded' })
    const { changeSet } = await bench.record(operation)
    expect(JSON.stringify(changeSet?.files)).toContain(JSON.stringify(`"""${text}"""`).slice(1, -1))
  })

  it.each(['shelf has no docstring.', 'shelf', ''])('fails with one that says nothing: %j', async (said) => {
    const { operation } = await runSaying(said)
    expect(operation.outcome).toMatchObject({ status: 'failed', errorCode: 'AGENT_011' })
  })
})
