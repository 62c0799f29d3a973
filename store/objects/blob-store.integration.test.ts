import { describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openBlobStore } from './blob-store.ts'
import { objectKeys } from './object-keys.ts'

const test = useOpened(testObjects)

describe('the blob store', () => {
  it('names contents by their SHA-256 and gives them back in the order asked for', async () => {
    const blobs = openBlobStore(test.objects, { maxCacheBytes: 0 })
    const contents = Array.from({ length: 100 }, (_value, at) => Buffer.from(`content ${at}`))
    const hashes = await blobs.putMany(test.project, contents)
    expect(hashes).toEqual(contents.map((content) => sha256(content)))
    const back = await blobs.getMany(test.project, hashes.toReversed())
    expect(back.map((bytes) => Buffer.from(bytes).toString())).toEqual(contents.map(String).toReversed())
  })

  it('stores again what it has only read, or stored too long ago to count on', async () => {
    const hash = await openBlobStore(test.objects, { maxCacheBytes: 1000 }).put(test.project, Buffer.from('old'))
    const blobs = openBlobStore(test.objects, { maxCacheBytes: 1000, trustedMs: 0 })
    await blobs.get(test.project, hash)
    for (let round = 0; round < 2; round++) {
      await test.objects.delete(objectKeys.blob(test.project, hash))
      await blobs.put(test.project, Buffer.from('old'))
      expect(await test.objects.exists(objectKeys.blob(test.project, hash))).toBe(true)
    }
  })

  it('keeps projects apart', async () => {
    const blobs = openBlobStore(test.objects, { maxCacheBytes: 1000 })
    const hash = await blobs.put(test.project, Buffer.from('mine'))
    await expect(blobs.get(`${test.project}x`, hash)).rejects.toMatchObject({ code: 'STORE_003' })
  })

  it('refuses content that is not what its hash says, and asks again the next time', async () => {
    const hash = sha256('right')
    await test.objects.put(objectKeys.blob(test.project, hash), 'wrong')
    const blobs = openBlobStore(test.objects, { maxCacheBytes: 1000 })
    await expect(blobs.get(test.project, hash)).rejects.toMatchObject({ code: 'STORE_003' })
    await test.objects.put(objectKeys.blob(test.project, hash), 'right')
    expect(Buffer.from(await blobs.get(test.project, hash)).toString()).toBe('right')
  })
})
