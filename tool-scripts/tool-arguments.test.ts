import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '#domain/turn.ts'
import { validateArguments } from './tool-arguments.ts'

const object = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const whole = 'write the character whole, or leave it out'

describe('validateArguments', () => {
  it.each<[string, JsonSchema, unknown, string]>([
    [
      'a missing nested parameter',
      object({ host: { type: 'string' } }, ['host']),
      {},
      'missing required parameter: a.host',
    ],
    ['a string for an integer', { type: 'integer' }, '3', 'expected a to be an integer, got: string'],
    ['a fraction for an integer', { type: 'integer' }, 1.5, 'expected a to be an integer, got: number'],
    ['a value that is no choice', { enum: ['json', 'csv'] }, 'xml', 'a must be one of ["json", "csv"], got: "xml"'],
    ['a number under its bound', { type: 'integer', minimum: 1 }, 0, 'a must be greater than or equal to 1, got: 0'],
    ['a number over its bound', { type: 'integer', maximum: 3 }, 4, 'a must be less than or equal to 3, got: 4'],
    ['a null for a required one', { type: 'string' }, null, 'expected a to be a string, got: null'],
    ['a NUL, although nothing is said of the value', {}, { deep: ['x\0y'] }, `a.deep[0] has a NUL at 1: ${whole}`],
    [
      'half of a character',
      { type: 'array', items: object({ text: { type: 'string' } }) },
      [{ text: 'whole 😀' }, { text: 'half \ud83d' }],
      String.raw`a[1].text has half of a character, "\ud83d", at 5: ${whole}`,
    ],
    [
      'half of a character in a name, where any name may be',
      { type: 'object', additionalProperties: { type: 'string' } },
      { 'x\udc00': 'y' },
      String.raw`the name "x\udc00" has half of a character, "\udc00", at 1: ${whole}`,
    ],
  ])('refuses %s', (_name, schema, a, fault) => {
    expect(validateArguments(object({ a: schema }, ['a']), { a })).toEqual({ ok: false, faults: [fault] })
  })

  it('says all that is wrong, or that the arguments are no object', () => {
    const schema = object({ a: { type: 'string' }, b: { type: 'integer' } }, ['a', 'b'])
    const faults = ['missing required parameter: a', 'expected b to be an integer, got: string']
    expect(validateArguments(schema, { b: 'x' })).toEqual({ ok: false, faults })
    expect(validateArguments(schema, [])).toEqual({
      ok: false,
      faults: ['expected arguments to be an object, got: array'],
    })
  })

  it.each<[string, Record<string, JsonSchema>, unknown, unknown]>([
    ['drops undeclared keys', { a: {} }, JSON.parse('{"a":"x","b":1,"__proto__":{"isAdmin":true}}'), { a: 'x' }],
    ['reads null for an optional as absent', { a: { type: 'string' } }, { a: null }, {}],
    ['applies defaults', { a: { type: 'array', default: [] }, b: { default: 2 } }, { b: null }, { a: [], b: 2 }],
    ['passes an object without properties whole', { a: { type: 'object' } }, { a: { x: [1] } }, { a: { x: [1] } }],
    ['takes a whole number as a number', { a: { type: 'number' } }, { a: 3 }, { a: 3 }],
    [
      'checks inside items',
      { a: { type: 'array', items: object({ b: {} }) } },
      { a: [{ b: 'x', c: 1 }] },
      { a: [{ b: 'x' }] },
    ],
  ])('%s', (_name, properties, args, expected) => {
    expect(validateArguments(object(properties), args)).toEqual({ ok: true, args: expected })
  })

  it('does not let a declared __proto__ reach the prototype', () => {
    const schema = object({ a: { type: 'object', additionalProperties: { type: 'object' } } })
    const checked = validateArguments(schema, JSON.parse('{"a":{"__proto__":{"isAdmin":true}}}'))
    expect(Reflect.get(checked.ok ? Object(checked.args['a']) : {}, 'isAdmin')).toBeUndefined()
  })

  it('refuses the description of a parameter as its value', () => {
    const schema = { type: 'object', properties: { text: { type: 'string', description: 'The text to write.' } } }
    expect(validateArguments(schema, { text: 'The text to write. ' })).toMatchObject({
      ok: false,
      faults: [expect.stringContaining('give the value itself')],
    })
    expect(validateArguments(schema, { text: 'The text.' })).toMatchObject({ ok: true })
  })

  it('gives each call its own default', () => {
    const schema = object({ a: { type: 'array', default: [] } })
    const [first, second] = [validateArguments(schema, {}), validateArguments(schema, {})]
    expect(first.ok && second.ok && first.args['a'] !== second.args['a']).toBe(true)
  })
})
