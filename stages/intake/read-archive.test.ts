import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { drain, sniffed } from './accept-run.ts'

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

  it('takes a zip, also one that holds nothing', async () => {
    for (const text of ['PK\x03\x04 and more', 'PK\x05\x06'.padEnd(22, '\0')]) {
      const archive = await sniffed(inChunks(Buffer.from(text, 'latin1'), 3))
      expect(Buffer.concat(await Array.fromAsync(archive.content)).toString('latin1')).toBe(text)
    }
  })

  it.for([
    [
      Buffer.from('7z\xbc\xaf\x27\x1c', 'latin1'),
      'The archive is a 7z archive: send a .tar, .tar.gz, .tgz or .zip instead.',
    ],
    [Buffer.from('<html>'), 'The archive is no archive that can be read: send a .tar, .tar.gz, .tgz or .zip instead.'],
    [Buffer.alloc(0), 'The archive is no archive that can be read: send a .tar, .tar.gz, .tgz or .zip instead.'],
  ] as const)('refuses what it cannot read, says what it is, and stops reading: %j', async ([bytes, message]) => {
    const seen = { ended: false }
    await expect(sniffed(inChunks(bytes, 4, seen))).rejects.toMatchObject({ code: 'INTAKE_001', message })
    expect(seen.ended).toBe(true)
  })
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
