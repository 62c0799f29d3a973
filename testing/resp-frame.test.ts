import { describe, expect, it } from 'vitest'
import { frameEnd, splitFrames, wordsOf } from './resend-proxy.ts'

const values = {
  'a simple string': '+OK\r\n',
  'an error': '-ERR no\r\n',
  'a number': ':-12\r\n',
  'a text that holds line ends': '$6\r\na\r\nb\r\n\r\n',
  'the absence of a text': '$-1\r\n',
  'the absence of a list': '*-1\r\n',
  'an empty list': '*0\r\n',
  'lists in a list': '*2\r\n*1\r\n$1\r\na\r\n:1\r\n',
  'a map of RESP3': '%1\r\n+k\r\n*2\r\n#t\r\n_\r\n',
  'a set of RESP3': '~2\r\n,1.5\r\n(123456789012345678901\r\n',
  'a message of RESP3': '>3\r\n+message\r\n+c\r\n$1\r\nx\r\n',
  'a value with an attribute': '|1\r\n+ttl\r\n:3600\r\n$1\r\na\r\n',
  'a verbatim text and a long error': '*2\r\n=5\r\ntxt:a\r\n!3\r\nERR\r\n',
}

describe('the framing of RESP', () => {
  it.each(Object.entries(values))('sees where %s ends, and that a part of it is not all', (_, value) => {
    const bytes = Buffer.from(`${value}+next\r\n`)
    expect(frameEnd(bytes)).toBe(value.length)
    for (let length = 0; length < value.length; length += 1) expect(frameEnd(bytes.subarray(0, length))).toBeUndefined()
  })

  it('keeps what is not complete for the next chunk', () => {
    const { frames, rest } = splitFrames(Buffer.from('+OK\r\n$1\r\na\r\n*2\r\n:1\r\n'))
    expect(frames.map(String)).toEqual(['+OK\r\n', '$1\r\na\r\n'])
    expect(String(rest)).toBe('*2\r\n:1\r\n')
  })

  it('reads the words of a command by their bytes', () => {
    expect(wordsOf(Buffer.from('*3\r\n$3\r\nSET\r\n$2\r\né\r\n$0\r\n\r\n'))).toEqual(['SET', 'é', ''])
  })
})
