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
  it('reads the lines that name a value before anything else', () => {
    const text = 'Do "this":\nname: kilo-1\nport: 8080\nlabels: a, b c\nenabled: false'
    expect(readValues(schemaOf('name', 'port', 'labels', 'enabled'), text)).toEqual({
      name: 'kilo-1',
      port: 8080,
      labels: ['a', 'b c'],
      enabled: false,
    })
  })

  it('takes what is in quotes in its order, and numbers only from outside of it', () => {
    const text = 'Register "kilo-1" on port 8080, labelled "v2" and "x 3". Log errors at ERROR.'
    expect(readValues(schemaOf('name', 'port', 'level', 'labels'), text)).toEqual({
      name: 'kilo-1',
      port: 8080,
      level: 'error',
      labels: ['v2', 'x 3'],
    })
  })

  it('fills objects within objects', () => {
    const nested = { properties: { server: schemaOf('name', 'port') } }
    expect(readValues(nested, '"a" at 1')).toEqual({ server: { name: 'a', port: 1 } })
  })

  it('leaves out what the request does not say, and looks into no code', () => {
    expect(readValues(schemaOf('name', 'port', 'level', 'enabled'), 'Say it.\n```\n"x" = 5 # on, error\n```')).toEqual(
      {},
    )
    expect(readValues(undefined, '"x"')).toEqual({})
  })
})
