import { expect, it } from 'vitest'
import { schemaText, type SchemaView } from './read-reference.ts'

const cases: [SchemaView, string][] = [
  [{ $ref: '#/components/schemas/Run' }, 'Run'],
  [{ type: 'integer', minimum: 1, maximum: 100, default: 20 }, 'integer, 1 to 100, 20 without it'],
  [{ type: ['string', 'null'] }, 'string or null'],
  [{ type: 'array', items: { $ref: '#/components/schemas/Node' }, maxItems: 3 }, 'list of Node, at most 3 entries'],
  [{ enum: ['none', 'auto'] }, '"none" or "auto"'],
  [{ type: 'object', additionalProperties: { type: 'string' } }, 'object of string'],
  [{ anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }] }, 'string, at least 1 characters or null'],
  [{ type: 'string', format: 'binary' }, 'bytes'],
  [{}, 'any'],
]

it.for(cases)('%j is said as %s', ([schema, text]) => {
  expect(schemaText(schema)).toBe(text)
})
