import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Redis } from 'ioredis'
import { startLocalRedis, type LocalRedis } from '#platform/local-redis.ts'
import { startLocalS3, type LocalS3 } from '#testing/local-s3.ts'
import { openReleaser } from '#platform/service-process.ts'
import { openLedger, type Ledger } from '#store/ledger/ledger.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { openProducer, type Producer } from '#store/queues/producer.ts'
import { freePorts } from '#testing/this-machine.ts'
import { askingAgent } from '../asking-agent.ts'
import { layOutRehearsedDocstrings } from '../rehearsed-docstrings.ts'
import { editingAgent } from '../editing-agent.ts'
import { openRunApi, type RunApi } from '../run-api.ts'
import { type ChaosHost, openChaosHost } from './chaos-host.ts'
import { type ChaosNetwork, openChaosNetwork } from './chaos-network.ts'
import { conductorCount } from './draw-conductor-fault.ts'
import { leaseMs, machineNames, workerCount } from './fault.ts'
import { openServiceProcess, openServiceSettings, type ServiceProcess } from './service-process.ts'
import { openStoreProxy, type StoreProxy } from './store-proxy.ts'
import { silentLog } from '#platform/log.ts'

/** Stores and services as processes of their own, each of which can be broken and repaired alone. */
export type ChaosStack = {
  /** Redis' append-only file, the objects, a log per process. */
  dir: string
  /** Where the services put temporary files. */
  tempDir: string
  redis: Redis
  ledger: Ledger
  queues: Producer
  /** Straight to the server, past the proxy. */
  objects: ObjectStore
  store: StoreProxy
  /** Undefined when all services run on this machine. */
  network: ChaosNetwork | undefined
  api: RunApi
  workers: readonly ServiceProcess[]
  discovery: ServiceProcess
  /** Not started with the others. */
  secondDiscovery: ServiceProcess
  apiProcess: ServiceProcess
  rehearsal: ServiceProcess
  publisher: ServiceProcess
  /** Those who decide about runs with an objective; none with machines. */
  conductors: readonly ServiceProcess[]
  /** A fake GitHub, which the publisher works with; undefined with machines, and without git. */
  host: ChaosHost | undefined
  killRedis(): Promise<boolean>
  /** Does nothing while it runs. */
  startRedis(): Promise<void>
  close(): Promise<void>
}

const token = 'a-token-only-for-the-chaos'

export type ChaosStackOptions = {
  /** Every service but the model server gets a machine of its own. */
  machines?: boolean
}

/** Starts everything with its data under `dir`, and resolves when all of it is ready. */
export async function startChaosStack(dir: string, { machines = false }: ChaosStackOptions = {}): Promise<ChaosStack> {
  const releaser = openReleaser()
  try {
    const [logDir, tempDir] = [join(dir, 'logs'), join(dir, 'tmp')]
    await Promise.all([logDir, tempDir].map((folder) => mkdir(folder, { recursive: true })))
    const agentsDir = await layOutAgents(dir)
    const server = await openRedisServer(join(dir, 'redis'))
    releaser.add('Redis', server.stop)
    const s3 = await startLocalS3({ dir: join(dir, 's3') })
    releaser.add('S3', s3.stop)
    const store = await openStoreProxy(s3.endpoint)
    releaser.add('proxy', store.close)
    const ports = await freePorts(6 + conductorCount + workerCount)
    const host = machines ? undefined : await openChaosHost(ports[0] ?? 0)
    if (host !== undefined) releaser.add('fake GitHub', host.close)
    const network = machines ? await openChaosNetwork([...machineNames, 'discovery-2']) : undefined
    if (network !== undefined) releaser.add('network', network.close)
    const urls = { redis: server.url, s3: store.endpoint, model: `http://127.0.0.1:${ports[3]}` }
    const addresses = await addressesOf(urls, s3, network)
    const settings = openServiceSettings({ ...addresses, ports, logDir, tempDir, token, agentsDir, github: host?.env })
    const open = (name: string) => openServiceProcess(settings(name))
    const services = {
      rehearsal: open('rehearsal'),
      apiProcess: open('api'),
      publisher: open('publisher'),
      discovery: open('discovery'),
      secondDiscovery: open('discovery-2'),
      conductors: Array.from({ length: machines ? 0 : conductorCount }, (_none, at) => open(`conductor-${at}`)),
      workers: Array.from({ length: workerCount }, (_none, at) => open(`worker-${at}`)),
    }
    const { rehearsal, apiProcess, discovery, publisher } = services
    const all = [
      rehearsal,
      apiProcess,
      discovery,
      ...(host ? [publisher] : []),
      ...services.conductors,
      ...services.workers,
    ]
    releaser.add('services', () => endAll([...all, services.secondDiscovery]))
    for (const service of all) service.start()
    await Promise.all(all.map((service) => service.ready()))
    const clients = openClients(server.url, openS3ObjectStore({ ...s3, credentials: s3 }))
    releaser.add('clients', clients.close)
    const api = openRunApi({ url: services.apiProcess.origin, token })
    const redisServer = { killRedis: server.kill, startRedis: server.start }
    return { dir, tempDir, store, network, host, api, ...services, ...clients, ...redisServer, close: releaser.release }
  } catch (error) {
    await releaser.release()
    throw error
  }
}

/** How the services reach the stores and the model server. */
async function addressesOf(
  urls: Record<'redis' | 's3' | 'model', string>,
  s3: LocalS3,
  network: ChaosNetwork | undefined,
) {
  const seen = async (url: string) => (await network?.open(url)) ?? url
  const [redisUrl, endpoint, modelUrl] = [await seen(urls.redis), await seen(urls.s3), await seen(urls.model)]
  const machineOf = (name: string) =>
    name === 'rehearsal' || name === 'publisher' ? undefined : network?.machine(name)
  return { address: { redisUrl, s3: { ...s3, endpoint } }, modelUrl, machineOf }
}

/** Puts a comment where `docstring` puts its text: their changes collide. Where a return is nested, the file would not parse any more. */
const rival = editingAgent('rival', { kinds: 'function', from: '\n    return', to: '\n    # checked\n    return' })

/** Its operations wait for their tool without a slot, which takes long. */
const slow = editingAgent('slow', {
  kinds: 'function',
  command: ['sleep', '2'],
  from: 'items):\n',
  to: 'items):  # slow\n',
})

/** The shipped bundles, with that of docstrings accepting what the rehearsal model writes, one that asks a person, one whose changes collide with those of another, and one whose tool takes long. */
async function layOutAgents(dir: string): Promise<string> {
  for (const [path, text] of Object.entries({ ...askingAgent, ...rival, ...slow })) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), text)
  }
  await layOutRehearsedDocstrings(join(dir, 'agents'))
  return join(dir, 'agents')
}

type RedisServer = {
  url: string
  kill(): Promise<boolean>
  start(): Promise<void>
  stop(): Promise<void>
}

/** A Redis that can be started again on the same port with the same data. */
async function openRedisServer(dir: string): Promise<RedisServer> {
  const first = await startLocalRedis({ env: process.env, dir })
  const port = Number(new URL(first.url).port)
  let running: LocalRedis | undefined = first
  let starting: Promise<void> | undefined
  const startAgain = async () => {
    running = await startLocalRedis({ env: process.env, dir, port })
  }
  return {
    url: first.url,
    async kill() {
      const killed = running
      if (killed === undefined) return false
      running = undefined
      process.kill(killed.pid, 'SIGKILL')
      await killed.stop()
      return true
    },
    async start() {
      if (running !== undefined) return
      starting ??= startAgain().finally(() => (starting = undefined))
      await starting
    },
    async stop() {
      await starting?.catch(() => {})
      await running?.stop()
    },
  }
}

function openClients(redisUrl: string, objects: ObjectStore) {
  // Waits through every outage: a missing answer proves nothing.
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null, retryStrategy: () => 100 })
  redis.on('error', () => {}) // it is killed on purpose
  const queues = openProducer({ redisUrl, log: silentLog })
  const archive = openEventSegments(objects)
  return {
    redis,
    queues,
    objects,
    ledger: openLedger(redis, { leaseMs, origin: { kind: 'worker', id: 'chaos' }, archive }),
    async close() {
      await queues.close()
      objects.close()
      redis.disconnect()
    },
  }
}

async function endAll(services: readonly ServiceProcess[]): Promise<void> {
  await Promise.all(services.map((service) => service.kill('SIGKILL')))
}
