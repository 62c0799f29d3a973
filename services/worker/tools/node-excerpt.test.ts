import { describe, expect, it } from 'vitest'
import { nodeExcerpt } from './node-excerpt.ts'

const lines = (count: number) => Array.from({ length: count }, (_, at) => `    line = ${at + 1}`).join('\n')

describe('the text of a node in a prompt', () => {
  it('is whole where it fits', () => {
    const text = lines(10)
    expect(nodeExcerpt(text, { firstLine: 1, maxCharacters: text.length })).toBe(text)
  })

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
