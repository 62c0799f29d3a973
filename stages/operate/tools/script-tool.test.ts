import { describe, expect, it } from 'vitest'
import { compileScript } from '#tool-scripts/compiled-script.ts'
import type { RunEnding } from '#tool-scripts/script-pool.ts'
import { effectsOf, scriptTool, toolResult } from './script-tool.ts'

const declaring = (...names: string[]) => effectsOf(names.map((name) => ({ name })))

describe('what a tool script does', () => {
  it('is reading while all that it declares only reads', () => {
    expect(declaring()).toBe('reads')
    expect(declaring('read_file', 'list_dir', 'file_exists', 'run_linter', 'describe_definition', 'log')).toBe('reads')
  })

  it.each(['write_file', 'apply_lint_fix', 'insert_docstring', 'ask_user', 'something_new'])(
    'is writing as soon as it declares %s',
    (name) => expect(declaring('read_file', name)).toBe('writes'),
  )
})

const answer = { result: [1], summary: 'one', outcome: 'success' }
const read = { result: [1], summary: 'one', outcome: 'success', knowledgeDelta: {} }
const raw = (value: unknown) => ({ outcome: 'partial', result: { raw_output: value } })

describe('the answer of a tool script', () => {
  it('is read in the shape of the contract', () => {
    expect(toolResult(answer)).toEqual(read)
    expect(toolResult({ ...answer, error: 'no', knowledge_delta: { a: 1 } })).toMatchObject({
      error: 'no',
      knowledgeDelta: { a: 1 },
    })
  })

  it('is a success where it does not say how it went', () => {
    expect(toolResult({ result: [1], summary: 'one' })).toEqual(read)
  })

  it.each([
    ['the whole text', JSON.stringify(answer, null, 2)],
    ['the last line', `found 1\n{"not": "this"}\n${JSON.stringify(answer)}`],
    ['the last line before blank ones', `found 1\r\n${JSON.stringify(answer)}\r\n  \n\n`],
  ])('is read from text where it is %s', (_where, text) => {
    expect(toolResult(text)).toEqual(read)
  })

  it.each([
    ['text', 'found 1\nand 2'],
    ['JSON of another shape', '{"found": 1}'],
    ['an answer before the last line', `${JSON.stringify(answer)}\nbye`],
    ['nothing', ''],
    ['a list', [1, 2]],
    ['None', null],
  ])('is kept as it came when it is %s', (_what, value) => {
    expect(toolResult(value)).toMatchObject(raw(value))
  })
})

async function answerTo(ending: RunEnding) {
  const parameters = { type: 'object', properties: {} } as const
  const tool = scriptTool({
    definition: { name: 'edit', description: '', parameters },
    script: await compileScript({ path: 'edit.pym', source: 'answer = 1\nanswer\n' }),
    providedInputs: async () => ({}),
    externals: new Map(),
    limits: {},
    pool: { run: async () => ending },
    log: { debug: () => {} },
  })
  const call = await tool.run({}, new AbortController().signal)
  return call.kind === 'done' ? call.result : call
}

describe('an exception that a tool script does not catch', () => {
  const raised = {
    kind: 'raised',
    type: 'ValueError',
    message: 'no such line',
    line: 3,
    traceback: '',
    printed: '',
  } as const
  const call = { name: 'edit_node', args: [] }

  it('is the answer to the model where an external refused its call', async () => {
    const error = { type: 'ValueError', message: 'no such line' }
    const answer = { outcome: 'error', result: null, knowledgeDelta: {}, error: 'no such line' }
    expect(await answerTo({ ...raised, journal: [{ ...call, error }] })).toEqual({
      ...answer,
      summary: 'edit was refused: no such line',
    })
  })

  it.each([
    ['the external answered', [{ ...call, answer: {} }]],
    ['the external raised another one, which was caught', [{ ...call, error: { type: 'ValueError', message: 'x' } }]],
    ['there was no call', []],
  ])('is a fault of the script where %s', async (_what, journal) => {
    expect(await answerTo({ ...raised, journal })).toMatchObject({
      errorCode: 'TOOL_004',
      error: 'edit raised ValueError: no such line (line 3)',
    })
  })
})
