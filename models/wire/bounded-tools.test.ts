import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '#domain/turn.ts'
import { boundTools, longestText } from './bounded-tools.ts'

const text = { type: 'string' }

function bounded(properties: Record<string, JsonSchema>, how: Partial<Parameters<typeof boundTools>[1]> = {}) {
  const parameters = { type: 'object', properties, required: Object.keys(properties).slice(0, 1) }
  const tools = [{ name: 'note', description: '', parameters }]
  const made = boundTools(tools, { lengths: 'long', maxTokens: 512, isClosed: true, ...how })
  return { ...made, properties: made.tools[0]?.parameters['properties'] }
}

describe('boundTools', () => {
  it.each([
    [128, 128],
    [512, 1024],
  ])('gives the one text of a call of %i tokens a longest length of %i', (maxTokens, maxLength) => {
    expect(bounded({ docstring: text }, { maxTokens }).properties).toEqual({ docstring: { ...text, maxLength } })
  })

  it('shares the room of a call between its texts, lists and what they hold', () => {
    const { properties } = bounded({
      a: text,
      b: { type: ['string', 'null'] },
      paths: { type: 'array', items: text },
      at: { type: 'object', properties: { c: { anyOf: [text, { type: 'null' }] }, sure: { type: 'boolean' } } },
    })
    expect(properties).toEqual({
      a: { ...text, maxLength: 128 },
      b: { type: ['string', 'null'], maxLength: 128 },
      paths: { type: 'array', items: { ...text, maxLength: 64 }, maxItems: 4 },
      at: {
        type: 'object',
        properties: { c: { anyOf: [{ ...text, maxLength: 128 }, { type: 'null' }] }, sure: { type: 'boolean' } },
      },
    })
  })

  it.each([64, 100, 128, 256, 1000, 4096])('leaves no call of %i tokens longer than its tokens', (maxTokens) => {
    const numbers = { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' }, s: text } } }
    const { properties } = bounded({ a: text, mode: { enum: ['x', 'longer'] }, numbers, b: text }, { maxTokens })
    const longest = JSON.stringify({ name: 'note', arguments: longestValue({ type: 'object', properties }) })
    const texts = longest.replaceAll(/[^é]/g, '').length
    const needed = texts / 2.4 + (longest.length - texts) / 1.4
    const leastNeeded = 150
    expect(needed).toBeLessThanOrEqual(Math.max(leastNeeded, maxTokens))
  })

  it("keeps a schema's own limits where they are lower, and what bounds a text otherwise", () => {
    const own = {
      name: { ...text, maxLength: 20 },
      long: { ...text, maxLength: 100_000 },
      least: { ...text, minLength: 700 },
      id: { ...text, pattern: '^a+$' },
      kind: { ...text, enum: ['a', 'b'] },
      few: { type: 'array', items: text, maxItems: 2 },
      line: { type: 'integer', minimum: 1 },
      rate: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    }
    expect(bounded(own).properties).toEqual({
      ...own,
      long: { ...text, maxLength: 128 },
      least: { ...text, minLength: 700, maxLength: 700 },
      few: { type: 'array', items: { ...text, maxLength: 128 }, maxItems: 2 },
      line: { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 },
      rate: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    })
  })

  it('leaves out what may have any form from a closed call, unless the tool requires it', () => {
    const anyForms = { needed: { type: 'object' }, details: { type: 'object' }, list: { type: 'array' }, value: {} }
    expect(bounded(anyForms).properties).toEqual({ needed: { type: 'object' } })
    expect(bounded(anyForms, { isClosed: false }).properties).toEqual(anyForms)
  })

  it('leaves a text open that may be longer than the server can bound, and says where that is the server', () => {
    const short = bounded({ docstring: text }, { lengths: 'short', maxTokens: 2048 })
    expect([short.properties, short.isOpen]).toEqual([{ docstring: text }, true])
    const long = bounded({ docstring: text }, { maxTokens: longestText.long })
    expect([long.properties, long.isOpen]).toEqual([{ docstring: text }, false])
    const none = bounded({ docstring: text }, { lengths: 'none' })
    expect([none.properties, none.isOpen]).toEqual([{ docstring: text }, true])
  })
})

/** The longest value that a bounded schema allows, of the kinds used above. */
function longestValue(schema: unknown): unknown {
  const { type, properties, items, maxLength, maxItems, enum: values } = Object(schema)
  if (Array.isArray(values)) return values.at(-1)
  if (type === 'string') return 'é'.repeat(maxLength)
  if (type === 'integer') return -999_999_999_999_999
  if (type === 'array') return Array.from({ length: maxItems }, () => longestValue(items))
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, longestValue(value)]))
}
