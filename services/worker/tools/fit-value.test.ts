import { describe, expect, it } from 'vitest'
import { fitValue } from './fit-value.ts'

const max = 2_000

describe('an answer that is too long to be shown', () => {
  it('stays JSON with all its keys, and says how much of a text is left out', () => {
    const facts = { name: 'define', has_docstring: true, docstring: 'word '.repeat(4_000), parameters: ['a', 'b'] }
    const shown = fitValue(facts, max)
    expect(JSON.stringify(shown).length).toBeLessThanOrEqual(max)
    expect(shown).toMatchObject({ name: 'define', has_docstring: true, parameters: ['a', 'b'] })
    expect(shown).toMatchObject({ docstring: expect.stringMatching(/characters cut/) })
  })

  it('says how many items of a list are left out', () => {
    const faults = Array.from({ length: 3_000 }, (_, line) => ({ code: 'E501', line }))
    const shown = fitValue({ total: faults.length, faults }, max)
    expect(JSON.stringify(shown).length).toBeLessThanOrEqual(max)
    expect(shown).toMatchObject({
      total: 3_000,
      faults: expect.arrayContaining([expect.stringMatching(/more are left/)]),
    })
  })

  it('is a text when nothing else is short enough', () => {
    const wide = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`${at}${'k'.repeat(500)}`, 1]))
    expect(fitValue(wide, max)).toMatch(/characters cut/)
  })

  it('comes back as it is when it fits', () => {
    const short = { a: [1, 'x', null] }
    expect(fitValue(short, max)).toBe(short)
  })
})
