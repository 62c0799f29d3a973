import { describe, expect, it } from 'vitest'
import { clippedJson } from './json.ts'

describe('a value as short JSON', () => {
  it.each([null, true, 3, 'a "b"', [], {}, [1, [2], { a: 'b', c: [] }], { a: { b: [null] } }])(
    'is whole: %j',
    (value) => {
      expect(clippedJson(value, 100)).toBe(JSON.stringify(value))
    },
  )

  it.each([
    ['long', 'x'.repeat(1000)],
    ['of many items', Array.from({ length: 1000 }, (_, at) => at)],
    ['of many keys', Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, { at }]))],
    ['of a long key', { ['k'.repeat(1000)]: 1 }],
  ])('is its beginning, when it is %s', (_what, value) => {
    expect(clippedJson(value, 50)).toBe(JSON.stringify(value).slice(0, 50))
  })

  it('is its beginning, however deep it is', () => {
    expect(clippedJson(JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`), 50)).toBe('['.repeat(50))
    expect(clippedJson(JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`), 1e6)).toMatch(/^\[+…\]+$/)
    expect(clippedJson(undefined, 50)).toBe('undefined')
  })
})
