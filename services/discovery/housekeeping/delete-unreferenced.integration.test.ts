import { afterAll, beforeAll, expect, it } from 'vitest'
import { withCollectionWindow } from '#store/ledger/collection-window.ts'
import { collectionKeys } from '#store/ledger/keys.ts'
import type { Retention } from '#store/ledger/retention.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import { deleteUnreferenced } from './collect-objects.ts'

let test: TestLedger
let store: TestObjects
beforeAll(async () => {
  test = await testLedger()
  store = await testObjects()
})
afterAll(async () => {
  await test.close()
  await store.close()
})

const never = new AbortController().signal
const times = { windowMs: 10_000, workMs: 5_000 }
const short = { windowMs: 600, workMs: 300 }

/** Deletes one object in a window; `meanwhile` comes right after the look at its age. Answers whether it stays. */
async function stays(meanwhile: () => void, within = times): Promise<{ isThere: boolean; failure: unknown }> {
  const key = `projects/${store.project}/blobs/one`
  await store.objects.put(key, 'x')
  const objects: Pick<ObjectStore, 'stat' | 'deleteMany'> = {
    ...store.objects,
    async stat(asked) {
      const found = await store.objects.stat(asked)
      meanwhile()
      return found
    },
  }
  const retention: Pick<Retention, 'inWindow'> = {
    inWindow: (work) => withCollectionWindow(test.redis, test.namespace, work, within),
  }
  const candidates = [{ key, lastPutBefore: Infinity }]
  const failure = await deleteUnreferenced(candidates, { retention, objects }, never).then(
    () => undefined,
    (error: unknown) => error,
  )
  return { isThere: await store.objects.exists(key), failure }
}

it('deletes what is old', async () => {
  expect(await stays(() => {})).toEqual({ isThere: false, failure: undefined })
})

it('deletes nothing after it was stopped for longer than its window, in which others put again', async () => {
  const stopThisThread = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, short.windowMs)
  expect(await stays(stopThisThread, short)).toMatchObject({ isThere: true, failure: { code: 'STORE_002' } })
})

it('deletes nothing when Redis lost its window', async () => {
  const lose = () => void test.redis.del(collectionKeys(test.namespace).window)
  expect(await stays(lose)).toMatchObject({ isThere: true, failure: { code: 'STORE_002' } })
})
