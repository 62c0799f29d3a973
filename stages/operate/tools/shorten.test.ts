import { describe, expect, it } from 'vitest'
import { fitValue, clip, nodeExcerpt } from './shorten.ts'
import { fc } from '#testing/fast-check.ts'

const maxJson = 2_000

describe('an answer that is too long to be shown', () => {
  it('stays JSON with all its keys, and says how much of a text is left out', () => {
    const facts = { name: 'define', has_docstring: true, docstring: 'word '.repeat(4_000), parameters: ['a', 'b'] }
    const shown = fitValue(facts, maxJson)
    expect(JSON.stringify(shown).length).toBeLessThanOrEqual(maxJson)
    expect(shown).toMatchObject({ name: 'define', has_docstring: true, parameters: ['a', 'b'] })
    expect(shown).toMatchObject({ docstring: expect.stringMatching(/characters cut/) })
  })

  it('says how many items of a list are left out', () => {
    const faults = Array.from({ length: 3_000 }, (_, line) => ({ code: 'E501', line }))
    const shown = fitValue({ total: faults.length, faults }, maxJson)
    expect(JSON.stringify(shown).length).toBeLessThanOrEqual(maxJson)
    expect(shown).toMatchObject({
      total: 3_000,
      faults: expect.arrayContaining([expect.stringMatching(/more are left/)]),
    })
  })

  it('is a text when nothing else is short enough', () => {
    const wide = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`${at}${'k'.repeat(500)}`, 1]))
    expect(fitValue(wide, maxJson)).toMatch(/characters cut/)
  })
})

describe('clip', () => {
  it('keeps head and tail and says how much was cut', () => {
    expect(clip('abcdefghij', 4)).toBe('ab\n… 6 characters cut …\nij')
  })

  it('is well formed whatever is cut, and counts what is missing', () => {
    const property = fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.nat(20), (text, max) => {
      const clipped = clip(text, max)
      expect(clipped.isWellFormed()).toBe(true)
      if (text.length <= max) return
      const [, head = '', cut = '', tail = ''] = /^(.*)\n… (\d+) characters cut …\n(.*)$/su.exec(clipped) ?? []
      expect(head.length + Number(cut) + tail.length).toBe(text.length)
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
    })
    fc.assert(property, { seed: 11 })
  })
})

const lines = (count: number) => Array.from({ length: count }, (_, at) => `    line = ${at + 1}`).join('\n')

describe('the text of a node in a prompt', () => {
  it('is its first and its last lines where it does not, and says which lines of the file are between them', () => {
    const shown = nodeExcerpt(lines(1_000), { firstLine: 41, maxCharacters: 400 }).split('\n')
    expect(shown[0]).toBe('    line = 1')
    expect(shown.at(-1)).toBe('    line = 1000')
    const at = shown.findIndex((line) => line.startsWith('['))
    const [from, to] = [40 + at + 1, 1040 - (shown.length - at - 1)]
    expect(shown[at]).toBe(`[lines ${from} to ${to} of the file are left out]`)
    expect(shown[at - 1]).toBe(`    line = ${at}`)
    expect(shown[at + 1]).toBe(`    line = ${to - 40 + 1}`)
  })

  it.each([50, 400, 3_000, 20_000])('has hardly more than %i characters, whatever the lines are', (maxCharacters) => {
    const wide = `x = "${'é😀'.repeat(50_000)}"`
    for (const text of [
      lines(5_000),
      wide,
      `x${wide}`,
      `xy${wide}`,
      `${wide}\n${lines(100)}\n${wide}`,
      '\n'.repeat(50_000),
    ]) {
      const shown = nodeExcerpt(text, { firstLine: 7, maxCharacters })
      expect(shown.length).toBeLessThanOrEqual(maxCharacters + 100)
      expect(shown).toMatch(/left out\]/)
      expect(shown.isWellFormed()).toBe(true)
    }
  })
})
