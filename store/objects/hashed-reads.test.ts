import { describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { openHashedReads } from './hashed-reads.ts'

describe('openHashedReads', () => {
  it('refuses an object that does not have its hash', async () => {
    const read = openHashedReads({ get: async () => Buffer.from('other') }, { parse: String, maxCacheBytes: 10 })
    await expect(read('a', sha256('a'))).rejects.toMatchObject({ code: 'STORE_003' })
  })
})
