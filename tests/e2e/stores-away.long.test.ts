import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { until } from '#testing/until.ts'
import { openStoreProxy, type StoreProxy } from '../chaos/store-proxy.ts'
import { remoraHere } from '../remora-here.ts'
import { openPrograms } from '../program.ts'
import { type Services, startServices, startStores, type Stores } from '../services.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../source-folder.ts'

const programs = openPrograms()
const Line = z.object({ level: z.string(), message: z.string() })

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

const submit = async () => services.api.submit(await folder.pack(), { agents: ['lint', 'docstring'] })
const stateOf = (runId: string) => services.api.run(runId)

/** Lines of a service that ask for somebody's attention. */
function complaints(name: string): z.infer<typeof Line>[] {
  const lines = services
    .named(name)
    .err()
    .split('\n')
    .filter((line) => line !== '')
  return lines.map((line) => Line.parse(JSON.parse(line))).filter(({ level }) => level === 'warn' || level === 'error')
}

describe('while the object store is away', () => {
  it('the state of a run is shown, what needs the store is 503, and the log of the API has one line', async () => {
    const runId = await submit()
    await services.api.follow(runId)
    proxy.setFault('silent')
    const state = await stateOf(runId)
    expect(state).toMatchObject({ status: 'completed', unread: ['composition', 'skipped_files'] })
    expect(state.counts).toMatchObject({ succeeded: 3 })
    expect((await services.api.ask('/v1/runs')).status).toBe(200)
    const env = { REMORA_API_URL: services.named('api').origin, REMORA_TOKEN: services.token }
    expect((await remoraHere(folder, ['show', runId], env)).code).toBe(0)
    const needy = [`/v1/runs/${runId}/patch`, `/v1/runs/${runId}/plan`, `/v1/runs/${runId}/nodes`]
    for (const answer of await Promise.all(needy.map((path) => services.api.ask(path)))) {
      expect(answer.status).toBe(503)
      expect(await answer.json()).toMatchObject({ error_code: 'STORE_002' })
    }
    expect(complaints('api')).toMatchObject([{ level: 'warn' }])
    proxy.setFault(undefined)
    await until(() => stateOf(runId), { holds: ({ unread }) => unread.length === 0 })
    // What was read once is known.
    proxy.setFault('silent')
    expect(await stateOf(runId)).toMatchObject({ status: 'completed', unread: [] })
    proxy.setFault(undefined)
  })

  it('stages wait for it with one line, and the run is completed when it is back', async () => {
    const discovery = services.named('discovery')
    // It has noticed the outage before this one, though it needed nothing.
    await until(() => complaints('discovery'), {
      holds: (entries) => entries.at(-1)?.message === 'the object store can be used again',
    })
    const before = complaints('discovery').length
    discovery.kill('SIGSTOP')
    const runId = await submit()
    proxy.setFault('reset')
    const asked = proxy.requests()
    discovery.kill('SIGCONT')
    // Each try of the snapshot asks the store some times.
    await until(() => proxy.requests() - asked, { holds: (count) => count > 30, withinMs: 60_000 })
    expect(complaints('discovery').slice(before)).toMatchObject([{ level: 'warn' }])
    expect((await stateOf(runId)).status).not.toBe('completed')
    proxy.setFault(undefined)
    expect((await services.api.follow(runId)).status).toBe('completed')
    for (const name of ['api', 'discovery', 'worker-1']) {
      expect(complaints(name).filter(({ level }) => level === 'error')).toEqual([])
    }
  })
})

const ofWorker = () => complaints('worker-1').map(({ message }) => message)
const takesNone = 'takes no operations: the object store cannot be used'
const takesAgain = 'takes operations again'

describe('a worker whose object store is full or away', () => {
  it('says so once, waits with what it has, and goes on: no turn is paid twice, and no operation fails', async () => {
    const worker = services.named('worker-1')
    worker.kill('SIGSTOP')
    const runId = await submit()
    await until(() => stateOf(runId), { holds: ({ counts }) => counts.dispatched !== 0, withinMs: 60_000 })
    proxy.setFault('full')
    worker.kill('SIGCONT')
    const waits = { kind: 'store', store: 'object_store', state: 'full' }
    await until(() => stateOf(runId), { holds: ({ waiting_for }) => waiting_for.some(({ kind }) => kind === 'store') })
    expect(await stateOf(runId)).toMatchObject({ status: 'running', waiting_for: [waits] })
    const env = { REMORA_API_URL: services.named('api').origin, REMORA_TOKEN: services.token }
    const { out } = await remoraHere(folder, ['runs'], env)
    expect(out).toContain('waits for the object store')
    expect(ofWorker().filter((line) => line === takesNone)).toHaveLength(1)
    proxy.setFault(undefined)
    const { events } = await services.api.follow(runId)
    expect(await stateOf(runId)).toMatchObject({ status: 'completed', waiting_for: [] })
    expect(events.filter(({ event }) => event === 'operation.retried')).toEqual([])
    await until(ofWorker, { holds: (lines) => lines.includes(takesAgain) })
    expect(ofWorker().filter((line) => line === takesNone || line === takesAgain)).toEqual([takesNone, takesAgain])
  })

  it('notices also without any operation that the store is away, and that it is back', async () => {
    const before = ofWorker().length
    proxy.setFault('reset')
    await until(ofWorker, { holds: (lines) => lines.slice(before).includes(takesNone) })
    proxy.setFault(undefined)
    await until(ofWorker, { holds: (lines) => lines.slice(before).includes(takesAgain) })
    const runId = await submit()
    expect((await services.api.follow(runId)).status).toBe('completed')
  })
})
