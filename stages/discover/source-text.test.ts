import { describe, expect, it } from 'vitest'
import { readDeclaredText, readSourceText } from './source-text.ts'

/** A file that declares `encoding`, with `bytes` in a string on its second line. */
function fileOf(encoding: string, bytes: readonly number[]): Buffer {
  return Buffer.concat([Buffer.from(`# coding: ${encoding}\ns = "`), Buffer.from(bytes), Buffer.from('"\n')])
}

const stringIn = (text: string | undefined) => /s = "(.*)"/s.exec(text ?? '')?.[1]

describe('readDeclaredText', () => {
  it.each([
    ['latin-1', [0xe9], '\u00e9'],
    ['Latin_1', [0x85], '\u0085'],
    ['iso8859_15', [0xa4], '\u20ac'],
    ['cp1252', [0x80], '\u20ac'],
    ['shift_jis', [0x95, 0x5c], '\u8868'],
    ['gbk', [0xc4, 0xe3], '\u4f60'],
    ['big5', [0xa7, 0x41], '\u4f60'],
    ['euc-kr', [0xb0, 0xa1], '\uac00'],
  ])('decodes %s', (encoding, bytes, text) => {
    expect(stringIn(readDeclaredText(fileOf(encoding, bytes))?.text)).toBe(text)
  })

  it.each(['utf-8', 'ascii', 'us-ascii', 'utf-16', 'utf-7', 'rot13', 'cp437'])('does not read %s', (encoding) => {
    expect(readDeclaredText(fileOf(encoding, [0xe9]))).toBeUndefined()
  })
})

describe('the byte offsets of a text', () => {
  it.each(['latin-1', 'koi8-r', 'shift_jis', 'euc-jp', 'gbk', 'gb18030', 'big5'])('are those of %s', (encoding) => {
    const characters = Array.from({ length: 40 }, (_, at) => [0xb0 + (at % 8), 0xa1 + at, 0x41]).flat()
    const bytes = fileOf(encoding, characters)
    const { text, byteOffsets } = readSourceText(bytes)
    const offsets = byteOffsets(Array.from({ length: text.length + 1 }, (_, index) => index))
    for (const [index, offset] of offsets.entries()) {
      expect(readSourceText(bytes.subarray(0, offset)).text).toBe(text.slice(0, index))
    }
    expect(offsets.at(-1)).toBe(bytes.length)
  })
})
