import { describe, expect, it } from 'vitest'
import { openKeptReads } from './kept-reads.ts'

/** Reads of `bytes` bytes each, of which it tells how many there were. */
function openReads(maxBytes: number, bytes: number) {
  const kept = openKeptReads<string>(maxBytes)
  const made: string[] = []
  const reading = async (key: string) => {
    made.push(key)
    await Promise.resolve()
    return { value: key.toUpperCase(), bytes }
  }
  return { made, read: (key: string) => kept(key, reading) }
}

describe('openKeptReads', () => {
  it('reads once what is asked for again, or by several at a time', async () => {
    const { read, made } = openReads(10, 3)
    expect(await Promise.all([read('a'), read('a'), read('b')])).toEqual(['A', 'A', 'B'])
    expect(await read('a')).toBe('A')
    expect(made).toEqual(['a', 'b'])
  })

  it('forgets what was unused longest when there are too many bytes', async () => {
    const { read, made } = openReads(10, 4)
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await read(key)
    expect(made).toEqual(['a', 'b', 'c', 'b'])
  })

  it('answers what is too large to be kept', async () => {
    const { read, made } = openReads(10, 11)
    expect([await read('a'), await read('a')]).toEqual(['A', 'A'])
    expect(made).toEqual(['a', 'a'])
  })

  it('fails everybody who waited, and reads again for the next', async () => {
    const kept = openKeptReads<string>(10)
    const fails = async () => Promise.reject(new Error('away'))
    const both = await Promise.allSettled([kept('a', fails), kept('a', fails)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await kept('a', async () => ({ value: 'A', bytes: 1 }))).toBe('A')
  })
})
