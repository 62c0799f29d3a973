import { describe, expect, it } from 'vitest'
import { readValues } from './rehearsal.ts'

const properties = {
  name: { type: 'string' },
  port: { type: 'integer' },
  level: { type: 'string', enum: ['info', 'error'] },
  enabled: { type: 'boolean' },
  labels: { type: 'array', items: { type: 'string' } },
}
const schemaOf = (...names: (keyof typeof properties)[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
})

describe('readValues', () => {
  it('leaves out what the request does not say, and looks into no code', () => {
    expect(readValues(schemaOf('name', 'port', 'level', 'enabled'), 'Say it.\n```\n"x" = 5 # on, error\n```')).toEqual(
      {},
    )
    expect(readValues(undefined, '"x"')).toEqual({})
  })
})
