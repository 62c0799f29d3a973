import { describe, expect, it } from 'vitest'
import { plainValue, ValueTooDeep } from './plain-value.ts'

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
    [12n, 12],
    [10n ** 30n, '1000000000000000000000000000000'],
    [undefined, null],
    [{ a: undefined, b: [undefined] }, { b: [null] }],
    [Buffer.from('hi'), 'aGk='],
  ])('makes plain JSON of %o', (value, plain) => {
    expect(plainValue(value)).toEqual(plain)
  })

  it('keeps __proto__ as an ordinary key', () => {
    const plain = plainValue(new Map([['__proto__', new Map([['isAdmin', true]])]]))
    expect(JSON.stringify(plain)).toBe('{"__proto__":{"isAdmin":true}}')
    expect(plain).not.toHaveProperty('isAdmin')
  })

  it('refuses what is nested too deep', () => {
    let deep: unknown = 1
    for (let level = 0; level < 10_000; level += 1) deep = [deep]
    expect(() => plainValue(deep)).toThrow(ValueTooDeep)
  })
})
