import { describe, expect, it } from 'vitest'
import { plainValue } from './plain-value.ts'

describe('plainValue', () => {
  it.each([
    [
      new Map<unknown, unknown>([
        ['a', 1],
        [2, 'b'],
        [null, true],
      ]),
      { a: 1, 2: 'b', null: true },
    ],
    [new Set([1, 2]), [1, 2]],
    [Object.assign([1, 2], { __tuple__: true }), [1, 2]],
    [Number.NaN, 'NaN'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
    [-0, 0],
    [() => 1, null],
    [{ toJSON: fault }, { toJSON: null }],
    [12n, 12],
    [10n ** 30n, '1000000000000000000000000000000'],
    [undefined, null],
    [{ a: undefined, b: [undefined] }, { b: [null] }],
    [Buffer.from('hi'), 'aGk='],
  ])('makes plain JSON of %o', (value, plain) => {
    expect(plainValue(value, 1_000)).toEqual(plain)
  })

  it('keeps __proto__ as an ordinary key', () => {
    const plain = plainValue(new Map([['__proto__', new Map([['isAdmin', true]])]]), 100)
    expect(JSON.stringify(plain)).toBe('{"__proto__":{"isAdmin":true}}')
    expect(plain).not.toHaveProperty('isAdmin')
  })

  it.each<[string, () => unknown, string]>([
    ['a cycle', cycle, 'value_depth'],
    ['shared references that are a huge value', shared, 'value_size'],
    ['an array of holes', () => Object.assign([], { length: 2 ** 30 }), 'value_size'],
    ['an integer of a million digits', () => 1n << 3_000_000n, 'value_size'],
    ['a getter that throws', () => Object.defineProperty({}, 'a', { enumerable: true, get: fault }), 'unreadable'],
    ['a proxy that throws', () => new Proxy({}, { ownKeys: fault }), 'unreadable'],
    ['a key that is a cycle', () => new Map([[cycle(), 1]]), 'value_depth'],
  ])('refuses %s', (_, make, reason) => {
    expect(() => plainValue(make(), 1_000_000)).toThrow(expect.objectContaining({ reason }))
  })
})

function cycle(): unknown[] {
  const value: unknown[] = []
  value.push(value)
  return value
}

function shared(): unknown {
  let value: unknown = 1
  for (let level = 0; level < 50; level += 1) value = [value, value]
  return value
}

function fault(): never {
  throw new Error('no')
}
