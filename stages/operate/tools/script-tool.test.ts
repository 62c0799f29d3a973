import { describe, expect, it } from 'vitest'
import { effectsOf, toolResult } from './script-tool.ts'

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
