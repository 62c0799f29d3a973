import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BlobStore, openBlobStore } from '#store/objects/blob-store.ts'
import { putNodeSelection, selectedNodes } from '#store/objects/node-selection.ts'
import { aRequest } from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'
import { nodesOf } from './planning.fixture.ts'

let s3: Awaited<ReturnType<typeof testObjects>>
let blobs: BlobStore
beforeAll(async () => {
  s3 = await testObjects()
  blobs = openBlobStore(s3.objects, { maxCacheBytes: 0 })
})
afterAll(() => s3.close())

const nodes = nodesOf('a.py', ['file', 'a.py', ['function', 'f'], ['function', 'g']])

it('are all nodes for a request that names none, else those it names, in the order of the source', async () => {
  const projectId = s3.project
  const select = async (ids: readonly string[]) => {
    const hash = await putNodeSelection(blobs, projectId, ids)
    const request = aRequest({ nodes: { hash, count: ids.length } })
    return (await selectedNodes({ projectId, request }, nodes, { blobs })).nodes
  }
  expect((await selectedNodes({ projectId, request: aRequest() }, nodes, { blobs })).nodes).toEqual(nodes)
  const [file, f, g] = nodes.map(({ nodeId }) => nodeId)
  expect(await select([g ?? '', file ?? '', 'n0000000000000000'])).toEqual([nodes[0], nodes[2]])
  expect(await select([])).toEqual([])
  expect(f).toBeDefined()
})

it('leave out what is the same as before, wherever it was', async () => {
  const texts = nodes.map((node, at) => ({ ...node, hash: `text ${at}` }))
  const base = new Set(['file text 0', 'function text 2', 'class text 1'])
  const found = await selectedNodes({ projectId: s3.project, request: aRequest() }, texts, { blobs, base })
  expect(found).toEqual({ asked: texts, nodes: [texts[1]], unchanged: [texts[0], texts[2]] })
})

it('are not guessed where the list is gone', async () => {
  const request = aRequest({ nodes: { hash: 'f'.repeat(64), count: 1 } })
  await expect(selectedNodes({ projectId: s3.project, request }, nodes, { blobs })).rejects.toMatchObject({
    code: 'STORE_003',
  })
})
