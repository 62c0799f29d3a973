import { expect, it } from 'vitest'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { selectedNodes } from '#store/objects/node-selection.ts'
import { aRequest } from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'

it('the nodes that a request names are not guessed where their list is gone', async () => {
  const { objects, project: projectId, close } = await testObjects()
  const blobs = openBlobStore(objects, { maxCacheBytes: 0 })
  const request = aRequest({ nodes: { hash: 'f'.repeat(64), count: 1 } })
  await expect(selectedNodes({ projectId, request }, [], { blobs })).rejects.toMatchObject({ code: 'STORE_003' })
  await close()
})
