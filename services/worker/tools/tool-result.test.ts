import { describe, expect, it } from 'vitest'
import { toolResult } from './tool-result.ts'

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
