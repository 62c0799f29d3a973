import { packTar } from 'modern-tar'
import { describe, expect, it } from 'vitest'
import { sniffArchive } from './archive-format.ts'

const tar = async () => packTar([{ header: { name: 'a.txt', size: 1, type: 'file' }, body: 'a' }])

/** As tars were before POSIX: no magic, only the header's checksum. */
async function oldTar(): Promise<Uint8Array> {
  const archive = await tar()
  archive.fill(0, 257, 512)
  archive.fill(0x20, 148, 156)
  const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  archive.set(Buffer.from(`${sum.toString(8).padStart(6, '0')}\0 `), 148)
  return archive
}

describe('sniffArchive', () => {
  it('knows a tar by its magic, or by its checksum when it is older than the magic', async () => {
    expect(sniffArchive(await tar())).toBe('tar')
    expect(sniffArchive(await oldTar())).toBe('tar')
    expect(sniffArchive(new Uint8Array(1024))).toBe('tar')
  })

  it('knows nothing else', async () => {
    const damaged = await oldTar()
    damaged[0] = 0x42
    expect(sniffArchive(damaged)).toBeUndefined()
    expect(sniffArchive(new Uint8Array())).toBeUndefined()
    expect(sniffArchive(Buffer.from('#!/bin/sh\n'.repeat(100)))).toBeUndefined()
    expect(sniffArchive((await tar()).subarray(0, 300))).toBeUndefined()
  })
})
