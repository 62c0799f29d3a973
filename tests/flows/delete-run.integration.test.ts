import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { type OneProcess, startInOneProcess } from '../one-process.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../source-folder.ts'

let services: OneProcess
let folder: SourceFolder
let redis: Redis
beforeAll(async () => {
  folder = await sourceFolder(smallSource)
  services = await startInOneProcess()
  redis = new Redis(services.stores.redisUrl)
})
afterAll(async () => {
  await redis.quit()
  await services.close()
  await folder.remove()
})

async function storedObjects(): Promise<string[]> {
  const { accessKeyId, secretAccessKey, ...place } = services.stores.s3
  const objects = openS3ObjectStore({ ...place, credentials: { accessKeyId, secretAccessKey } })
  const listed = await Array.fromAsync(objects.list('projects/'))
  objects.close()
  return listed.map(({ key }) => key).toSorted()
}

async function completedRun(): Promise<string> {
  const runId = await services.api.submit(await folder.pack(), { agents: ['lint', 'docstring'] })
  expect((await services.api.follow(runId)).status).toBe('completed')
  return runId
}

const remora = (...args: string[]) => services.remora(folder, args)

/**
 * Keys of the ledger in Redis, without those of the collection and of the model slots, some of which last for seconds. Those of
 * the queues (`{remora}:`) are made once, and hold no more than ids of jobs.
 */
const passing = /^remora:\{(?:all\}:collection|slots\})/
const ledgerKeys = async () => (await redis.keys('remora:*')).filter((key) => !passing.test(key)).toSorted()

it('`remora delete` leaves of a run what was there before it, and of a second run all that the first one shared', async () => {
  const first = await completedRun()
  const before = { objects: await storedObjects(), redis: await ledgerKeys() }
  expect(before.redis.filter((key) => key.includes(first)).length).toBeGreaterThan(5)
  const second = await completedRun()
  expect((await storedObjects()).length).toBeGreaterThan(before.objects.length)

  const deletion = await remora('delete', second, '--json')
  expect(deletion).toMatchObject({ code: 0 })
  expect(JSON.parse(deletion.out)).toEqual({ run_id: second, deleted: true })
  const after = await storedObjects()
  expect(after.filter((key) => key !== 'projects/default/ledger.json')).toEqual(before.objects)
  expect(await ledgerKeys()).toEqual(before.redis)
  expect(JSON.stringify(await redis.xrange('remora:results', '-', '+'))).not.toContain(second)

  expect(await remora('diff', first)).toMatchObject({ code: 0, out: expect.stringContaining('shop/stock.py') })
  expect(await remora('delete', first)).toMatchObject({ code: 0 })
  expect(await storedObjects()).toEqual(['projects/default/ledger.json'])
  expect((await ledgerKeys()).filter((key) => key.includes(first))).toEqual([])

  // Discovery has put the same files a moment ago, and must not count on that.
  expect(await completedRun()).not.toBe(first)
  expect(await remora('delete', first)).toMatchObject({ code: 1, err: expect.stringContaining('RUN_001') })
})
