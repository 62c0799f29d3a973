import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { sha256 } from '#domain/hash.ts'
import { drain, sniffed } from './read-archive.ts'

const gzip = gzipSync(Buffer.from('x'.repeat(3000)))

async function* inChunks(bytes: Uint8Array, size: number, seen: { ended: boolean } = { ended: false }) {
  try {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  } finally {
    seen.ended = true
  }
}

describe('sniffed', () => {
  it.for([1, 7, 512, 100_000])(
    'gives back every byte and their hash, however they arrive: %i at a time',
    async (size) => {
      const archive = await sniffed(inChunks(gzip, size))
      const content = Buffer.concat(await Array.fromAsync(archive.content))
      expect(content.equals(gzip)).toBe(true)
      expect(archive.digest()).toBe(sha256(gzip))
    },
  )

  it.for([Buffer.from('PK\u0003\u0004 a zip'), Buffer.from('<html>'), Buffer.alloc(0)])(
    'refuses what is no tar and stops reading: %j',
    async (bytes) => {
      const seen = { ended: false }
      await expect(sniffed(inChunks(bytes, 4, seen))).rejects.toMatchObject({ code: 'INTAKE_001' })
      expect(seen.ended).toBe(true)
    },
  )
})

describe('drain', () => {
  it('refuses an archive over the limit without reading the rest', async () => {
    const seen = { ended: false }
    await expect(drain(inChunks(Buffer.alloc(10_000), 1000, seen), 2500)).rejects.toMatchObject({ code: 'INTAKE_003' })
    expect(seen.ended).toBe(true)
  })

  it('takes one of exactly the limit', async () => {
    await expect(drain(inChunks(Buffer.alloc(2500), 1000), 2500)).resolves.toBeUndefined()
  })
})
