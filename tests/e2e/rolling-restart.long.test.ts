import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePorts, lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { openPrograms, repository } from '../program.ts'
import { openRunApi, type RunEvent } from '../run-api.ts'
import { isReady, type Service, type Services, startServices, startStores, storeEnv, type Stores } from '../services.ts'
import { manyFunctions, sourceFolder, undocumented } from '../source-folder.ts'
import { testSigningKey } from '#testing/test-signer.ts'

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

/** Starts a service of the next version next to one of the current version. */
async function startNext(folder: 'discovery' | 'worker' | 'api', env: Record<string, string>): Promise<Service> {
  const { stores, next } = open
  if (stores === undefined || next === undefined) throw new Error('nothing was opened')
  const [port] = await freePorts(1)
  const name = `next-${folder}`
  const ports = {
    discovery: { REMORA_DISCOVERY_HEALTH_PORT: String(port) },
    worker: { REMORA_WORKER_HEALTH_PORT: String(port), REMORA_WORKER_ID: name },
    api: {
      REMORA_API_PORT: String(port),
      REMORA_API_HEALTH_PORT: '0',
      REMORA_TOKEN: services.token,
      REMORA_SIGNING_KEY: testSigningKey,
    },
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

it.skipIf(noGit)(
  'a run continues while every service is replaced by its next version, and nothing is lost',
  async () => {
    const { stores } = open
    if (stores === undefined) throw new Error('nothing was opened')
    const { origin } = services.named('rehearsal')
    await fetch(`${origin}/latency`, { method: 'POST', body: JSON.stringify({ ms: 100 }) })
    const folder = await sourceFolder({ 'prices.py': manyFunctions(40) })
    const runId = await services.api.submit(await folder.pack(), { agents: ['docstring'] })
    const ended = async () => (await services.api.events(runId, 0, 1000)).events
    await until(async () => endedBy(await ended()), { holds: (workers) => workers.has('old-worker'), withinMs: 30_000 })

    await startNext('discovery', {})
    await stop(services.named('discovery')) // from here on, every job is the next version's
    await startNext('worker', { REMORA_MODEL_URLS: `${origin}/v1`, REMORA_WORKER_SLOTS: '1' })
    await until(async () => endedBy(await ended()), {
      holds: (workers) => workers.has('next-worker'),
      withinMs: 30_000,
    })
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
  },
)

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

/** The edits that turn this code into a next version: it writes newer runs and jobs, and also reads the current ones. */
const changes = [
  { file: 'domain/run.ts', from: 'export const runSchema = 1', to: 'export const runSchema = 2' },
  { file: 'store/ledger/keys.lua', from: 'local known_schema = 1', to: 'local known_schema = 2' },
  { file: 'store/queues/catalog.ts', from: 'export const payloadVersion = 1', to: 'export const payloadVersion = 2' },
  { file: 'store/queues/catalog.ts', from: 'z.literal(payloadVersion)', to: 'z.literal([1, payloadVersion])' },
] as const

const parts = ['agents', 'cli', 'core', 'queries', 'scripts', 'services', 'package.json']

/** A second checkout next to this one, one version ahead. `path` ends with a slash. */
async function nextCheckout(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'remora-next-'))
  for (const part of parts) await cp(join(repository, part), join(path, part), { recursive: true })
  await symlink(join(repository, 'node_modules'), join(path, 'node_modules'))
  for (const { file, from, to } of changes) {
    const text = await readFile(join(path, file), 'utf8')
    if (!text.includes(from)) throw new Error(`${file} no longer holds what the next version changes: ${from}`)
    await writeFile(join(path, file), text.replaceAll(from, to))
  }
  return { path: `${path}/`, remove: () => rm(path, { recursive: true, force: true }) }
}
