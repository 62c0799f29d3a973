import { describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { openHashedReads } from './hashed-reads.ts'

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

  it('refuses an object that does not have its hash', async () => {
    const read = openHashedReads({ get: async () => Buffer.from('other') }, { parse: String, maxCacheBytes: 10 })
    await expect(read('a', sha256('a'))).rejects.toMatchObject({ code: 'STORE_003' })
  })
})
