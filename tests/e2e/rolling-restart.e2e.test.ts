import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePorts, lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { nextCheckout } from './next-checkout.ts'
import { openPrograms } from './program.ts'
import { openRunApi, type RunEvent } from './run-api.ts'
import { isReady, startServices, startStores, type Service, type Services, type Stores } from './services.ts'
import { manyFunctions, undocumented } from './small-source.ts'
import { sourceFolder } from './source-folder.ts'
import { storeEnv } from './store-env.ts'

const noGit = lacks('git')

const programs = openPrograms()
const open: { stores?: Stores; next?: Awaited<ReturnType<typeof nextCheckout>> } = {}
let services: Services

beforeAll(async () => {
  open.stores = await startStores()
  open.next = await nextCheckout()
  const workerEnv = { REMORA_WORKER_SLOTS: '1', REMORA_DRAIN_MS: '500' }
  services = await startServices(programs, open.stores, { workers: ['old-worker'], workerEnv })
})
afterAll(async () => {
  await programs.end()
  await open.stores?.stop()
  await open.next?.remove()
})

/** Starts a service of the next version beside the one of today. */
async function startNext(folder: 'discovery' | 'worker' | 'api', env: Record<string, string>): Promise<Service> {
  const { stores, next } = open
  if (stores === undefined || next === undefined) throw new Error('nothing was opened')
  const [port] = await freePorts(1)
  const name = `next-${folder}`
  const ports = {
    discovery: { REMORA_DISCOVERY_HEALTH_PORT: String(port) },
    worker: { REMORA_WORKER_HEALTH_PORT: String(port), REMORA_WORKER_ID: name },
    api: { REMORA_API_PORT: String(port), REMORA_TOKEN: services.token },
  }
  const options = { env: { ...storeEnv(stores), ...ports[folder], ...env }, checkout: next.path }
  const service = {
    ...programs.start(['scripts/service.mjs', folder], options),
    name,
    origin: `http://127.0.0.1:${port}`,
  }
  await isReady(service)
  return service
}

async function stop(service: Service): Promise<void> {
  service.kill('SIGTERM')
  expect(await service.exited).toBe(0)
}

const endedBy = (events: readonly RunEvent[]) =>
  new Set(events.filter(({ event }) => event === 'operation.ended').map(({ origin }) => origin.id))

it.skipIf(noGit)('a run goes on while every service is replaced by its next version, and nothing is lost', async () => {
  const { stores } = open
  if (stores === undefined) throw new Error('nothing was opened')
  const { origin } = services.named('rehearsal')
  await fetch(`${origin}/latency`, { method: 'POST', body: JSON.stringify({ ms: 100 }) })
  const folder = await sourceFolder({ 'prices.py': manyFunctions(40) })
  const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
  const ended = async () => (await services.api.events(runId, 0, 1000)).events
  await until(async () => endedBy(await ended()).has('old-worker'), { withinMs: 30_000 })

  await startNext('discovery', {})
  await stop(services.named('discovery')) // from here on, every job is the next version's
  await startNext('worker', { REMORA_MODEL_URLS: `${origin}/v1`, REMORA_WORKER_SLOTS: '1' })
  await until(async () => endedBy(await ended()).has('next-worker'), { withinMs: 30_000 })
  await stop(services.named('old-worker'))

  const { events, status } = await services.api.follow(runId)
  expect(status).toBe('completed')
  expect(endedBy(events)).toEqual(new Set(['old-worker', 'next-worker']))
  const retried = events.filter(({ event }) => event === 'operation.retried')
  for (const { data } of retried) expect(data).toMatchObject({ reason: 'drain' })
  const operations = await services.api.operations(runId)
  expect(operations).toHaveLength(40)
  expect(operations.filter((one) => !['succeeded', 'unchanged'].includes(one.status))).toEqual([])
  const patch = await services.api.ask(`/v1/runs/${runId}/patch`)
  await folder.apply(await patch.text())
  expect(await folder.read('prices.py')).not.toMatch(undocumented)
  await folder.remove()
  const verify = programs.start(['cli/remora.mjs', 'verify', runId], { env: storeEnv(stores) })
  expect(await verify.exited, verify.out()).toBe(0)
})

it('a run of the next version is refused by what is older, and done by what knows it', async () => {
  const { stores, next } = open
  if (stores === undefined || next === undefined) throw new Error('nothing was opened')
  const api = openRunApi({ url: (await startNext('api', {})).origin, token: services.token })
  const folder = await sourceFolder({ 'prices.py': manyFunctions(2) })
  const runId = await api.submit(await folder.pack(), { agents: ['docstring'] })
  const older = await services.api.ask(`/v1/runs/${runId}`)
  expect(await older.json()).toMatchObject({ error_code: 'RUN_005' })
  expect(await api.follow(runId)).toMatchObject({ status: 'completed' })
  const verify = programs.start(['cli/remora.mjs', 'verify', runId], { env: storeEnv(stores), checkout: next.path })
  expect(await verify.exited, verify.out()).toBe(0)
  await folder.remove()
})
