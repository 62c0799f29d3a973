import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePorts, lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { openStoreProxy } from '../chaos/store-proxy.ts'
import { descendantsOf, stillRunning } from '../living-processes.ts'
import { killed, testLostOperations, toldToStop } from './lost-operations.ts'
import { openPrograms } from '../program.ts'
import { startServices, startStores, storeEnv, type Stores } from '../services.ts'
import { manyFunctions, sourceFolder, undocumented } from '../source-folder.ts'

testLostOperations(toldToStop)

describe.each([killed, toldToStop])('a worker that is $way while it composes a run', ({ signal, exit, leaseMs }) => {
  const programs = openPrograms()
  const open: { stores?: Stores } = {}
  afterAll(async () => {
    await programs.end()
    await open.stores?.stop()
  })

  it.skipIf(lacks('git'))('leaves the run to another worker, and no process behind', async () => {
    const stores = (open.stores = await startStores())
    const composing = Promise.withResolvers<void>()
    const store = await openStoreProxy(stores.s3.endpoint, {
      hold({ method, url = '' }) {
        const isRead = method === 'GET' && url.includes('/attempts/') // by the composition alone
        if (isRead) composing.resolve()
        return isRead
      },
    })
    onTestFinished(store.close)
    const workerEnv = { REMORA_LEASE_MS: leaseMs, REMORA_DRAIN_MS: '1' }
    const held = { ...workerEnv, REMORA_S3_ENDPOINT: store.endpoint }
    const services = await startServices(programs, stores, { workers: ['worker-1'], workerEnv: held })
    const folder = await sourceFolder({ 'prices.py': manyFunctions(3) })
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
    await composing.promise
    const run = await services.api.ask(`/v1/runs/${runId}`)
    expect(await run.json()).toMatchObject({ phase: 'review', composing: { operations: 3, operations_read: 0 } })
    const worker = services.named('worker-1')
    const children = await descendantsOf(worker.pid)
    worker.kill(signal)
    expect(await worker.exited).toBe(exit)

    const [port] = await freePorts(1)
    const own = { REMORA_WORKER_ID: 'worker-2', REMORA_WORKER_HEALTH_PORT: String(port) }
    const model = { REMORA_MODEL_URLS: `${services.named('rehearsal').origin}/v1` }
    programs.start(['scripts/service.mjs', 'worker'], { env: { ...storeEnv(stores), ...workerEnv, ...own, ...model } })
    expect((await services.api.follow(runId)).status).toBe('completed')
    await until(() => stillRunning(children), { holds: ({ length }) => length === 0 })
    const patch = await services.api.ask(`/v1/runs/${runId}/patch`)
    await folder.apply(await patch.text())
    expect(await folder.read('prices.py')).not.toMatch(undocumented)
    await folder.remove()
    const verify = programs.start(['cli/remora.mjs', 'verify', runId], { env: storeEnv(stores) })
    expect(await verify.exited, verify.out()).toBe(0)
  })
})
