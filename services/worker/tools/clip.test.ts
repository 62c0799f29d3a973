import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clip } from './clip.ts'

describe('clip', () => {
  it('leaves a text alone that is short enough', () => {
    expect(clip('short', 5)).toBe('short')
  })

  it('keeps head and tail and says how much was cut', () => {
    expect(clip('abcdefghij', 4)).toBe('ab\n… 6 characters cut …\nij')
  })

  it('cuts no character in two', () => {
    expect(clip('a😀b😀c😀d', 4)).toBe('a\n… 8 characters cut …\nd')
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
