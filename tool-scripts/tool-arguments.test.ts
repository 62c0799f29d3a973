import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '#domain/turn.ts'
import { validateArguments } from './tool-arguments.ts'

const object = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

describe('validateArguments', () => {
  it.each<[string, JsonSchema, unknown, string[]]>([
    [
      'a missing nested parameter',
      object({ config: object({ host: { type: 'string' } }, ['host']) }),
      { config: {} },
      ['missing required parameter: config.host'],
    ],
    [
      'a string for an integer',
      object({ count: { type: 'integer' } }),
      { count: '3' },
      ['expected count to be an integer, got: string'],
    ],
    [
      'a fraction for an integer',
      object({ count: { type: 'integer' } }),
      { count: 1.5 },
      ['expected count to be an integer, got: number'],
    ],
    [
      'a wrong item',
      object({ tags: { type: 'array', items: { type: 'string' } } }),
      { tags: ['a', 1] },
      ['expected tags[1] to be a string, got: integer'],
    ],
    [
      'half of a character',
      object({ edits: { type: 'array', items: object({ text: { type: 'string' } }) } }),
      { edits: [{ text: 'whole 😀' }, { text: 'half \ud83d' }] },
      [String.raw`edits[1].text has half of a character, "\ud83d", at 5: write the character whole, or leave it out`],
    ],
    [
      'half of a character in a name, where any name may be',
      { type: 'object', additionalProperties: { type: 'string' } },
      { 'a\udc00': 'b' },
      [
        String.raw`the name "a\udc00" has half of a character, "\udc00", at 1: write the character whole, or leave it out`,
      ],
    ],
    [
      'a NUL, although nothing is said of the value',
      { type: 'object' },
      { anything: { deep: ['a\0b'] } },
      ['anything.deep[0] has a NUL at 1: write the character whole, or leave it out'],
    ],
    [
      'a value that is no choice',
      object({ format: { type: 'string', enum: ['json', 'csv'] } }),
      { format: 'xml' },
      ['format must be one of ["json", "csv"], got: "xml"'],
    ],
    [
      'a number under its bound',
      object({ count: { type: 'integer', minimum: 1 } }),
      { count: 0 },
      ['count must be greater than or equal to 1, got: 0'],
    ],
    [
      'a number over its bound',
      object({ count: { type: 'integer', maximum: 3 } }),
      { count: 4 },
      ['count must be less than or equal to 3, got: 4'],
    ],
    [
      'a null for a required one',
      object({ a: { type: 'string' } }, ['a']),
      { a: null },
      ['expected a to be a string, got: null'],
    ],
    [
      'no member of a union',
      object({ a: { anyOf: [{ type: 'string' }, { type: 'integer' }] } }),
      { a: true },
      ['expected a to be a string or an integer, got: boolean'],
    ],
    [
      'a wrong value of a dict',
      object({ a: { type: 'object', additionalProperties: { type: 'integer' } } }),
      { a: { k: 'x' } },
      ['expected a.k to be an integer, got: string'],
    ],
    ['no object at all', object({}), [], ['expected arguments to be an object, got: array']],
    [
      'several faults at once',
      object({ a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'boolean' } }, ['a', 'b']),
      { b: 'x', c: 0 },
      [
        'missing required parameter: a',
        'expected b to be an integer, got: string',
        'expected c to be a boolean, got: integer',
      ],
    ],
  ])('refuses %s', (_name, schema, args, faults) => {
    expect(validateArguments(schema, args)).toEqual({ ok: false, faults })
  })

  it.each<[string, JsonSchema, unknown, unknown]>([
    [
      'drops undeclared keys',
      object({ a: { type: 'string' } }),
      JSON.parse('{"a":"x","b":1,"__proto__":{"isAdmin":true}}'),
      { a: 'x' },
    ],
    ['reads null for an optional as absent', object({ a: { type: 'string' } }), { a: null }, {}],
    [
      'applies defaults',
      object({ a: { type: 'array', default: [] }, b: { type: 'integer', default: 2 } }),
      { b: null },
      { a: [], b: 2 },
    ],
    [
      'passes an object without properties whole',
      object({ a: { type: 'object' } }),
      { a: { x: { y: [1] } } },
      { a: { x: { y: [1] } } },
    ],
    ['takes a whole number as a number', object({ a: { type: 'number' } }), { a: 3 }, { a: 3 }],
    [
      'checks inside items',
      object({ a: { type: 'array', items: object({ b: { type: 'string' } }) } }),
      { a: [{ b: 'x', c: 1 }] },
      { a: [{ b: 'x' }] },
    ],
  ])('%s', (_name, schema, args, expected) => {
    expect(validateArguments(schema, args)).toEqual({ ok: true, args: expected })
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
