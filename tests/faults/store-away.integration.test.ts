import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { runKeys } from '#store/ledger/keys.ts'
import { openBlobStore } from '#store/objects/blob-store.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { openSnapshotReader } from '#store/objects/snapshot.ts'
import { testObjects } from '#testing/s3.ts'
import { until } from '#testing/until.ts'
import { openOperationBench, type Planned } from '#stages/operate/operation-bench.fixture.ts'
import { type OperationDeps, runOperation } from '#stages/operate/run-operation.ts'
import { baseLayerOf } from '#stages/operate/workspace/base-layer.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openStoreProxy, type StoreProxy } from '../chaos/store-proxy.ts'

const never = new AbortController().signal
const source = 'def shelf(row):\n    return f"shelf"\n'

let proxy: StoreProxy
let objects: ObjectStore
const bench = useOpened(openOperationBench)
const store = useOpened(testObjects)
beforeAll(async () => {
  proxy = await openStoreProxy(store.s3.endpoint)
  const { endpoint: _endpoint, accessKeyId, secretAccessKey, ...place } = store.s3
  const credentials = { accessKeyId, secretAccessKey }
  objects = openS3ObjectStore({ ...place, endpoint: proxy.endpoint, credentials })
})
afterAll(async () => {
  objects.close()
  await proxy.close()
})
afterEach(() => proxy.setFault(undefined))

const eventsOf = ({ runId }: Planned) => bench.ledger.readEvents(runId, { after: 0, limit: 1000 })
const retriesOf = async (planned: Planned) =>
  (await eventsOf(planned)).flatMap(({ event, data }) => (event === 'operation.retried' ? [data['reason']] : []))

/** A worker whose stores are behind the proxy; it keeps no blob. `onTurn` is called before each request to the model. */
function worker(onTurn: (turn: number) => unknown = () => {}) {
  const blobs = openBlobStore(objects, { maxCacheBytes: 1 })
  const readSnapshot = openSnapshotReader(objects)
  let turns = 0
  const complete: OperationDeps['model']['complete'] = (request, signal) => {
    onTurn((turns += 1))
    return bench.deps.model.complete(request, signal)
  }
  const baseLayer: OperationDeps['baseLayer'] = async (owner, id) =>
    baseLayerOf(await readSnapshot(owner, id), blobs, owner)
  return {
    deps: { ...bench.deps, ledger: bench.withLease(1500), objects, baseLayer, model: { complete } },
    turns: () => turns,
  }
}

/** Until the store has refused so many more requests. */
async function untilRefused(most = 12): Promise<void> {
  const before = proxy.requests()
  await until(() => proxy.requests() - before, { holds: (count) => count > most, withinMs: 20_000 })
}

describe('an operation whose object store is away or full', () => {
  it.each(['full', 'reset', '503'] as const)('keeps its turns until its record can be stored (%s)', async (fault) => {
    const planned = await bench.planned(await bench.bundle('lint'), source, 'shelf')
    const { deps, turns } = worker((turn) => turn === 1 && proxy.setFault(fault))
    const running = runOperation(planned.job, deps, never)
    await untilRefused()
    expect(await bench.operation(planned)).toMatchObject({ status: 'running', attempt: 1 })
    proxy.setFault(undefined)
    await running
    const operation = await bench.operation(planned)
    expect(operation).toMatchObject({ status: 'succeeded', attempt: 1, outcome: { turns: turns() } })
    expect((await bench.record(operation)).replies).toHaveLength(turns())
    expect(await retriesOf(planned)).toEqual([])
    expect((await bench.ledger.verify(planned.runId)).violations).toEqual([])
  })

  it('does not use up its time while it waits to read', async () => {
    const bundle = await bench.bundle('lint')
    bundle.file.limits.timeout_s = 1
    const planned = await bench.planned(bundle, source, 'shelf')
    const { deps } = worker((turn) => turn === 1 && proxy.setFault('reset'))
    const running = runOperation(planned.job, deps, never)
    await until(() => eventsOf(planned), { holds: (events) => events.some(({ event }) => event === 'tool.called') })
    const from = performance.now()
    await until(() => performance.now() - from > 2_500)
    proxy.setFault(undefined)
    await running
    const operation = await bench.operation(planned)
    expect(operation).toMatchObject({ status: 'succeeded', attempt: 1 })
    expect(operation.outcome?.durationMs).toBeLessThan(2_500)
  })

  it('waits also before it begins', async () => {
    const planned = await bench.planned(await bench.bundle('lint'), source, 'shelf')
    const { deps } = worker()
    proxy.setFault('503')
    const running = runOperation(planned.job, deps, never)
    await untilRefused()
    proxy.setFault(undefined)
    await running
    expect(await bench.operation(planned)).toMatchObject({ status: 'succeeded', attempt: 1 })
    expect(await retriesOf(planned)).toEqual([])
  })

  it('is handed back when its worker stops, and ends when its run is cancelled', async () => {
    const [planned, other] = await Promise.all(
      [1, 2].map(async () => bench.planned(await bench.bundle('lint'), source, 'shelf')),
    )
    if (planned === undefined || other === undefined) throw new Error('nothing was planned')
    const { deps } = worker(() => proxy.setFault('full'))
    const stop = new AbortController()
    const running = runOperation(planned.job, deps, stop.signal)
    const running2 = runOperation(other.job, deps, never)
    await untilRefused()
    stop.abort(new Error('the worker is shutting down'))
    await running
    expect(await retriesOf(planned)).toEqual(['drain'])
    expect(await bench.operation(planned)).toMatchObject({ status: 'ready' })
    await bench.redis.hset(runKeys(bench.namespace, other.runId).run, 'cancel', '1')
    await running2
    expect(await bench.operation(other)).toMatchObject({ status: 'cancelled' })
    expect((await bench.ledger.verify(other.runId)).violations).toEqual([])
  })
})
