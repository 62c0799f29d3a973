import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openS3ObjectStore } from '#objects/s3-object-store.ts'
import { openPrograms } from './program.ts'
import { type Services, startServices, startStores, type Stores } from './services.ts'
import { smallSource, sourceFolder, type SourceFolder } from './source-folder.ts'

const programs = openPrograms()
const open: { stores?: Stores; folder?: SourceFolder } = {}
let services: Services
let stores: Stores
let redis: Redis
beforeAll(async () => {
  stores = open.stores = await startStores()
  open.folder = await sourceFolder(smallSource)
  services = await startServices(programs, stores)
  redis = new Redis(stores.redisUrl)
})
afterAll(async () => {
  await redis.quit()
  await programs.end()
  await open.stores?.stop()
  await open.folder?.remove()
})

async function objectsIn({ s3 }: Stores): Promise<string[]> {
  const { accessKeyId, secretAccessKey, ...place } = s3
  const objects = openS3ObjectStore({ ...place, credentials: { accessKeyId, secretAccessKey } })
  const listed = await Array.fromAsync(objects.list('projects/'))
  objects.close()
  return listed.map(({ key }) => key).toSorted()
}

async function completedRun(): Promise<string> {
  const archive = await open.folder?.pack()
  const runId = await services.api.submit(archive ?? new Uint8Array(), { agents: ['lint', 'docstring'] })
  expect((await services.api.follow(runId)).status).toBe('completed')
  return runId
}

function remora(...args: string[]) {
  const env = { REMORA_API_URL: services.named('api').origin, REMORA_TOKEN: services.token }
  return programs.start(['cli/remora.mjs', ...args], { env })
}

/**
 * Keys of the ledger in Redis, without those of the collection and of the model slots, some of which last for seconds. Those of
 * the queues (`{remora}:`) are made once, and hold no more than ids of jobs.
 */
const passing = /^remora:\{(?:all\}:collection|places\})/
const ledgerKeys = async () => (await redis.keys('remora:*')).filter((key) => !passing.test(key)).toSorted()

it('`remora delete` leaves of a run what was there before it, and of a second run all that the first one shared', async () => {
  const first = await completedRun()
  const before = { objects: await objectsIn(stores), redis: await ledgerKeys() }
  expect(before.redis.filter((key) => key.includes(first)).length).toBeGreaterThan(5)
  const second = await completedRun()
  expect((await objectsIn(stores)).length).toBeGreaterThan(before.objects.length)

  const deletion = remora('delete', second, '--json')
  expect(await deletion.exited, deletion.err()).toBe(0)
  expect(JSON.parse(deletion.out())).toEqual({ run_id: second, deleted: true })
  const after = await objectsIn(stores)
  expect(after.filter((key) => key !== 'projects/default/ledger.json')).toEqual(before.objects)
  expect(await ledgerKeys()).toEqual(before.redis)
  expect(JSON.stringify(await redis.xrange('remora:results', '-', '+'))).not.toContain(second)

  const patch = remora('diff', first)
  expect(await patch.exited, patch.err()).toBe(0)
  expect(patch.out()).toContain('shop/stock.py')
  const last = remora('delete', first)
  expect(await last.exited, last.err()).toBe(0)
  expect(await objectsIn(stores)).toEqual(['projects/default/ledger.json'])
  expect((await ledgerKeys()).filter((key) => key.includes(first))).toEqual([])

  // Discovery has put the same files a moment ago, and must not count on that.
  expect(await completedRun()).not.toBe(first)
  const unknown = remora('delete', first)
  expect([await unknown.exited, unknown.err()]).toEqual([1, expect.stringContaining('RUN_001')])
})
