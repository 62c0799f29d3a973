import { describe, expect, it } from 'vitest'
import { iterableNote } from '#languages/python/known-types.ts'
import { faultsOfSamples, readSampleFile, readSamples, writeSampleFile } from './sample-file.ts'

const count = { type: 'integer' }
const schema = {
  type: 'object',
  properties: { sku: { type: 'string' }, count, tags: { type: 'array', items: { type: 'string' }, uniqueItems: true } },
  required: ['sku', 'count'],
  additionalProperties: false,
}
const signature = {
  schema,
  parameters: ['sku', 'count', 'tags'].map((name) => ({ name, isRequired: true, schema: {} })),
}
const good = { name: 'usual', arguments: { sku: 'a', count: 1 } }
const bad = { name: 'no count', why: 'count is required', arguments: { sku: 'a' } }
const cases = (more: { valid?: object[]; invalid?: object[] }) => ({ valid: [good], invalid: [bad], ...more })

function faults(more: { valid?: object[]; invalid?: object[] }): string[] {
  const read = readSamples(cases(more))
  return read.kind === 'faulty' ? read.faults : faultsOfSamples(read.value, signature)
}

describe('samples', () => {
  it('hold when every valid case is accepted, and every invalid one refused for what it names', () => {
    expect(faults({})).toEqual([])
    expect(
      faults({
        invalid: [bad, { name: 'x', why: 'no such parameter: colour', arguments: { ...good.arguments, colour: 1 } }],
      }),
    ).toEqual([])
  })

  it('have no text as an invalid sequence: a program takes it for one', () => {
    const items = { type: 'array', items: { type: 'string' }, description: iterableNote }
    const sequence = { type: 'object', properties: { names: items }, required: ['names'], additionalProperties: false }
    const faultsOf = (names: unknown) =>
      faultsOfSamples(
        {
          valid: [{ name: 'usual', arguments: { names: ['a'] } }],
          invalid: [{ name: 'x', why: 'names is none', arguments: { names } }],
        },
        { schema: sequence },
      )
    expect(faultsOf('abc')).toEqual(['invalid case "x": the types accept it'])
    expect(faultsOf(3)).toEqual([])
    expect(faultsOf([3])).toEqual([])
  })

  it('are answered with every fault at once', () => {
    const valid = [
      good,
      { name: 'float', arguments: { sku: 'a', count: 1.5 } },
      { name: 'twice', arguments: { count: 1, sku: 'a' } },
    ]
    const invalid = [
      { name: 'sound', why: 'count is negative', arguments: { sku: 'a', count: -1 } },
      { name: 'other', why: 'sku is wrong', arguments: { sku: 'a', count: 'x' } },
      { name: 'both', why: 'sku and count', arguments: { sku: 1, count: 'x' } },
      { name: 'usual', why: 'tags has the same twice', arguments: { ...good.arguments, tags: ['a', 'a'] } },
    ]
    expect(faults({ valid, invalid })).toEqual([
      expect.stringMatching(/^valid case "float": count: .*int/),
      'invalid case "sound": the types accept it',
      expect.stringMatching(/^invalid case "other": what is wrong is count: .*, and why does not name count$/),
      'invalid case "both": sku and count are wrong; one argument is to be',
      'there are two cases "usual"',
      'there are two cases with the arguments {"count":1,"sku":"a"}',
    ])
  })

  const deep = (levels: number) => Array.from({ length: levels }).reduce((inner: unknown) => [inner], 1)
  it.each([
    ['no list', { valid: 'none' }],
    ['no cases', { valid: [] }],
    ['no invalid cases', { invalid: [] }],
    ['too many cases', { valid: Array.from({ length: 21 }, (_, at) => ({ name: `${at}`, arguments: {} })) }],
    ['a name of two lines', { valid: [{ name: 'a\nb', arguments: {} }] }],
    ['a name without text', { valid: [{ name: ' ', arguments: {} }] }],
    ['no reason', { invalid: [{ name: 'a', arguments: {} }] }],
    ['arguments that are a list', { valid: [{ name: 'a', arguments: [] }] }],
    ['a key that does not belong', { valid: [{ ...good, because: '' }] }],
    ['values nested too deeply', { valid: [{ name: 'a', arguments: { sku: deep(50_000) } }] }],
    ['values that are no JSON', { valid: [{ name: 'a', arguments: { sku: undefined, count: 1n } }] }],
  ])('are refused with %s', (_, more) => {
    expect(readSamples({ ...cases({}), ...more })).toMatchObject({ kind: 'faulty' })
  })
})

describe('a file of samples', () => {
  const file = {
    source: 'a.py::f',
    signature: '(sku: str, count: int)',
    valid: [{ name: 'yes', arguments: { count: 1, sku: 'on' } }],
    invalid: [bad],
  }

  it('has the arguments in the order of the signature, and the same bytes each time', () => {
    const text = writeSampleFile(file, signature, 'json')
    expect(text).toContain('"arguments": {\n        "sku": "on",\n        "count": 1\n      }')
    expect(text.endsWith('}\n')).toBe(true)
    expect(readSampleFile(text, 'json')).toEqual({ kind: 'read', value: file })
    expect(
      writeSampleFile({ ...file, valid: [{ name: 'yes', arguments: { sku: 'on', count: 1 } }] }, signature, 'json'),
    ).toBe(text)
  })

  it('quotes what older YAML would take for no text', () => {
    const words = ['on', '2024-02-29', '1:30', '0x1f', 'null', '', 'ü', '1e3', 'a: b #c']
    const valid = words.map((sku) => ({ name: `is ${sku}`, arguments: { sku, count: 1 } }))
    const text = writeSampleFile({ ...file, valid }, signature, 'yaml')
    expect(text).toContain('sku: "on"\n')
    expect(readSampleFile(text, 'yaml')).toEqual({ kind: 'read', value: { ...file, valid } })
  })

  it.each([
    ['{"a": 1}', 'json'],
    ['{', 'json'],
    ['a: [', 'yaml'],
    ['x'.repeat(70_000), 'json'],
    [`a: &a ["x"]\nb: &b [${'*a,'.repeat(99)}]\nc: [${'*b,'.repeat(99)}]\n`, 'yaml'],
  ] as const)('is told from others: %.20s', (text, format) => {
    expect(readSampleFile(text, format)).toMatchObject({ kind: 'faulty' })
  })
})
