import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { until } from '#testing/until.ts'
import { openStoreProxy, type StoreProxy } from '../chaos/store-proxy.ts'
import { remoraHere } from '../remora-here.ts'
import { openPrograms } from './program.ts'
import { type Services, startServices, startStores, type Stores } from './services.ts'
import { smallSource, sourceFolder, type SourceFolder } from './source-folder.ts'

const programs = openPrograms()
const Line = z.object({ level: z.string(), message: z.string() })
const Waiting = z.array(z.looseObject({ kind: z.string() }))
const State = z.looseObject({ status: z.string(), waiting_for: Waiting, counts: z.record(z.string(), z.int()) })

let stores: Stores
let proxy: StoreProxy
let folder: SourceFolder
let services: Services
beforeAll(async () => {
  stores = await startStores()
  proxy = await openStoreProxy(stores.s3.endpoint)
  folder = await sourceFolder(smallSource)
  services = await startServices(programs, { ...stores, s3: { ...stores.s3, endpoint: proxy.endpoint } })
})
afterAll(async () => {
  await programs.end()
  await proxy.close()
  await stores.stop()
  await folder.remove()
})

const stateOf = async (runId: string) => State.parse(await (await services.api.ask(`/v1/runs/${runId}`)).json())

function complaints(): string[] {
  const lines = services.named('worker-1').err().trim().split('\n')
  const parsed = lines.flatMap((line) => (line === '' ? [] : Line.parse(JSON.parse(line))))
  return parsed.flatMap(({ level, message }) => (level === 'warn' || level === 'error' ? message : []))
}

const takesNone = 'takes no operations: the object store cannot be used'
const takesAgain = 'takes operations again'

describe('a worker whose object store is full or away', () => {
  it('says so once, waits with what it has, and goes on: no turn is paid twice, and no operation fails', async () => {
    const worker = services.named('worker-1')
    worker.kill('SIGSTOP')
    const runId = await services.api.submit(await folder.pack(), { agents: ['lint', 'docstring'] })
    await until(async () => (await stateOf(runId)).counts['dispatched'] !== 0, { withinMs: 60_000 })
    proxy.setFault('full')
    worker.kill('SIGCONT')
    const waits = { kind: 'store', store: 'object_store', state: 'full' }
    await until(async () => (await stateOf(runId)).waiting_for.some(({ kind }) => kind === 'store'))
    expect(await stateOf(runId)).toMatchObject({ status: 'running', waiting_for: [waits] })
    const env = { REMORA_API_URL: services.named('api').origin, REMORA_TOKEN: services.token }
    const { out } = await remoraHere(folder, ['runs'], env)
    expect(out).toContain('waits for the object store')
    expect(complaints().filter((line) => line === takesNone)).toHaveLength(1)
    proxy.setFault(undefined)
    const { events } = await services.api.follow(runId)
    expect(await stateOf(runId)).toMatchObject({ status: 'completed', waiting_for: [] })
    expect(events.filter(({ event }) => event === 'operation.retried')).toEqual([])
    await until(() => complaints().includes(takesAgain))
    expect(complaints().filter((line) => line === takesNone || line === takesAgain)).toEqual([takesNone, takesAgain])
  })

  it('notices also without any operation that the store is away, and that it is back', async () => {
    const before = complaints().length
    proxy.setFault('reset')
    await until(() => complaints().slice(before).includes(takesNone))
    proxy.setFault(undefined)
    await until(() => complaints().slice(before).includes(takesAgain))
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
    expect((await services.api.follow(runId)).status).toBe('completed')
  })
})
