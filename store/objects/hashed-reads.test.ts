import { describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { openHashedReads, openRangeReads } from './hashed-reads.ts'

/** A store in which every object holds its key, `times` times; counts the reads. */
function openReads(maxCacheBytes: number, times: number) {
  const made: string[] = []
  const contentOf = (key: string) => Buffer.from(key.repeat(times))
  const get = async (key: string) => {
    made.push(key)
    await Promise.resolve()
    return contentOf(key)
  }
  const parse = (bytes: Uint8Array) => Buffer.from(bytes).toString().charAt(0).toUpperCase()
  const read = openHashedReads<string>({ get }, { parse, maxCacheBytes })
  return { made, read: (key: string) => read(key, sha256(contentOf(key))) }
}

describe('openHashedReads', () => {
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

  it('refuses an object that does not have its hash', async () => {
    const read = openHashedReads({ get: async () => Buffer.from('other') }, { parse: String, maxCacheBytes: 10 })
    await expect(read('a', sha256('a'))).rejects.toMatchObject({ code: 'STORE_003' })
  })
})

describe('openRangeReads', () => {
  it('fails everybody who waited, and reads again for the next', async () => {
    let failures = 1
    const getRange = async (key: string) => {
      await Promise.resolve()
      if (failures-- > 0) throw new Error('away')
      return Buffer.from(key)
    }
    const read = openRangeReads({ getRange }, 10)
    const range = { start: 0, end: 1 }
    const both = await Promise.allSettled([read('a', range), read('a', range)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await read('a', range)).toBe('a')
  })
})
