import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { testRedis, type TestRedis } from '#testing/redis.ts'
import { openResendProxy, type ResendProxy } from '#testing/resend-proxy.ts'
import { operationJobId } from './catalog.ts'
import { openProducer, type JobToAdd, type Producer } from './producer.ts'
import { silentLog } from '#platform/log.ts'

let server: TestRedis
let proxy: ResendProxy
let redis: Redis
let prefix = ''
let producer: Producer
beforeAll(async () => {
  server = await testRedis()
  proxy = await openResendProxy(server.url)
  redis = new Redis(server.url)
  prefix = `{${server.namespace}}`
  producer = openProducer({ redisUrl: proxy.url, prefix, log: silentLog })
})
afterAll(async () => {
  await producer.close()
  await proxy.close()
  await redis.quit()
  await server.close()
})

const { operationId } = aPlannedOperation('a')

function jobsOf(runId: string): JobToAdd<'operations'>[] {
  return [1, 2, 3].map((dispatch) => ({
    id: operationJobId({ runId, operationId, dispatch }),
    payload: { run_id: runId, traceparent: null, operation_id: operationId, dispatch },
  }))
}

/** The ids that wait in the queue, of this run. */
async function waitingIds(runId: string): Promise<string[]> {
  const ids = await redis.lrange(`${prefix}:operations:wait`, 0, -1)
  return ids.filter((id) => id.startsWith(runId)).toSorted()
}

/** The commands that adding jobs sends when nothing fails. */
async function commandsOfAdding(): Promise<string[][]> {
  await producer.addMany('operations', jobsOf('r00000000'))
  const { commands } = proxy.watch()
  await producer.addMany('operations', jobsOf('r00000001'))
  return [...commands]
}

/** The code it failed with; undefined when it did not. */
async function faultOf(work: Promise<void>): Promise<string | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}

it('adds each job once, whichever answer of the server was lost and however often the sender tries again', async () => {
  const places = (await commandsOfAdding()).length
  const failed: (string | undefined)[] = []
  for (let place = 0; place < places; place += 1) {
    const runId = `r1000000${place}`
    const jobs = jobsOf(runId)
    const watch = proxy.watch({ cutAt: place })
    const fault = await faultOf(producer.addMany('operations', jobs))
    if (fault !== undefined) {
      failed.push(fault)
      await producer.addMany('operations', jobs)
    }
    expect(watch.cuts).toBe(1)
    expect(await waitingIds(runId)).toEqual(jobs.map(({ id }) => id))
  }
  // The whole bulk is sent again when none of it was answered. A part of it is never sent again: then the call fails.
  expect(failed.length).toBeLessThan(places)
  expect([...new Set(failed)]).toEqual(['STORE_001'])
})
