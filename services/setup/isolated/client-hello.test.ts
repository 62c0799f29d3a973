import { describe, expect, it } from 'vitest'
import { helloOf, inRecords, withExtension } from './client-hello.fixture.ts'
import { asksForAnother, readClientHello } from './client-hello.ts'

const hello = await helloOf({ servername: 'pypi.org' })
const nameless = await helloOf({ host: '10.0.0.1' })
const older = await helloOf({ servername: 'pypi.org', maxVersion: 'TLSv1.2' })
const none = { kind: 'none' }

describe('the first message of a TLS client', () => {
  it('is found with its host, in one record or in many, and nothing after it is taken', () => {
    const more = Buffer.from([20, 3, 3, 0, 1, 1])
    for (const sent of [hello, older, inRecords(hello, 1), inRecords(hello, 7)]) {
      const read = { kind: 'hello', serverName: 'pypi.org', bytes: sent.length }
      expect(readClientHello(sent)).toEqual(read)
      expect(readClientHello(Buffer.concat([sent, more]))).toEqual(read)
    }
    expect(readClientHello(nameless)).toMatchObject({ kind: 'hello', serverName: undefined })
  })

  it('is waited for until all of it is there', () => {
    for (const sent of [hello, inRecords(hello, 5)]) {
      for (let bytes = 0; bytes < sent.length; bytes += 1) {
        expect(readClientHello(sent.subarray(0, bytes))).toEqual({ kind: 'more' })
      }
    }
  })

  it.each([
    ['plain text', Buffer.from('GET / HTTP/1.1\r\n')],
    ['a record of another type', Buffer.concat([Buffer.from([23]), hello.subarray(1)])],
    ['a record that says nothing before it', Buffer.concat([Buffer.from([20, 3, 3, 0, 1, 1]), hello])],
    ['a record without content', Buffer.from([22, 3, 1, 0, 0])],
    ['a record that is too long', Buffer.from([22, 3, 1, 0x50, 0])],
    ['SSL 2', Buffer.from([0x80, 0x2e, 1, 3, 1])],
    ['another message of a handshake', Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
    ['a message that is too long', Buffer.from([22, 3, 1, 0, 4, 1, 1, 0, 0])],
    ['records without end', Buffer.concat(Array<Buffer>(3_000).fill(Buffer.from([22, 3, 1, 0, 1, 1]))).fill(1, 5, 6)],
    ['a second message in the same record', appended(hello, Buffer.from([11, 0, 0, 0]))],
    ['a hidden name', withExtension(hello, 0xfe0d, Buffer.alloc(32))],
    ['a second name', withExtension(hello, 0, Buffer.from('\0\x0b\0\0\x08evil.org', 'latin1'))],
    ['a list of two names', withExtension(nameless, 0, Buffer.from('\0\x0a\0\0\x02ab\0\0\x02cd', 'latin1'))],
    ['an empty name', withExtension(nameless, 0, Buffer.from('\0\x03\0\0\0', 'latin1'))],
    ['a name with a NUL', withExtension(nameless, 0, Buffer.from('\0\x06\0\0\x03a\0b', 'latin1'))],
    ['an end that belongs to nothing', appended(hello, Buffer.from([0]), 1)],
  ])('is not %s', (_, sent) => {
    expect(readClientHello(sent)).toMatchObject(none)
  })

  it('is never read past its end, whatever byte is wrong', () => {
    for (let at = 0; at < hello.length; at += 1) {
      for (const value of [0, 1, 0x7f, 0xff]) {
        const wrong = Buffer.from(hello)
        wrong[at] = value
        const read = readClientHello(wrong)
        expect(read.kind === 'hello' ? read.bytes : hello.length).toBe(hello.length)
      }
    }
  })

  it('may be asked for again, and then follow a record that says nothing', () => {
    const again = Buffer.concat([Buffer.from([20, 3, 3, 0, 1, 1]), hello])
    expect(readClientHello(again, { isRetry: true })).toMatchObject({ serverName: 'pypi.org', bytes: again.length })
    expect(readClientHello(hello, { isRetry: true })).toMatchObject({ serverName: 'pypi.org' })
    expect(asksForAnother(Buffer.from('HTTP'))).toBe(false)
    expect(asksForAnother(Buffer.from([22, 3, 3]))).toBe(undefined)
  })
})

/** With more in the same record, and `inMessage` bytes of it in the same message. */
function appended(sent: Buffer, more: Buffer, inMessage = 0): Buffer {
  const made = Buffer.concat([sent, more])
  made.writeUInt16BE(made.readUInt16BE(3) + more.length, 3)
  made.writeUInt16BE(made.readUInt16BE(7) + inMessage, 7)
  return made
}
