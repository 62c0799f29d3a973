import { storeEnv, type StoreAddress } from '../e2e/store-env.ts'
import { leaseMs, workerCount } from './draw-fault.ts'
import type { ServiceSettings } from './service-process.ts'

export type StackPlaces = {
  address: StoreAddress
  /** Four for api, two discoveries and rehearsal, and one per worker. */
  ports: readonly number[]
  logDir: string
  tempDir: string
  token: string
  /** The bundles that the histories' runs name. */
  agentsDir: string
}

/** By the name of a service: what its process is started with. */
export function openServiceSettings(places: StackPlaces): (name: string) => ServiceSettings {
  const { address, logDir, tempDir, token, agentsDir } = places
  const [api = 0, discovery = 0, discovery2 = 0, rehearsal = 0, ...workers] = places.ports
  const store = { ...storeEnv(address), TMPDIR: tempDir, REMORA_LEASE_MS: String(leaseMs) }
  const worker = {
    ...store,
    REMORA_MODEL_URLS: `http://127.0.0.1:${rehearsal}/v1`,
    REMORA_WORKER_SLOTS: '4',
    REMORA_WORKER_SCRIPT_PROCESSES: '1',
    REMORA_DRAIN_MS: '200',
  }
  const finder = { ...store, REMORA_DISCOVERY_THREADS: '1', REMORA_AGENTS_DIR: agentsDir }
  const known: Record<string, Omit<ServiceSettings, 'name' | 'logDir'>> = {
    rehearsal: { service: 'rehearsal', port: rehearsal, env: { REMORA_REHEARSAL_PORT: String(rehearsal) } },
    api: {
      service: 'api',
      port: api,
      env: { ...store, REMORA_TOKEN: token, REMORA_API_PORT: String(api), REMORA_AGENTS_DIR: agentsDir },
    },
    discovery: {
      service: 'discovery',
      port: discovery,
      env: { ...finder, REMORA_DISCOVERY_HEALTH_PORT: String(discovery) },
    },
    'discovery-2': {
      service: 'discovery',
      port: discovery2,
      env: { ...finder, REMORA_DISCOVERY_HEALTH_PORT: String(discovery2) },
    },
  }
  for (const [at, port] of workers.slice(0, workerCount).entries()) {
    const own = { REMORA_WORKER_ID: `worker-${at}`, REMORA_WORKER_HEALTH_PORT: String(port) }
    known[`worker-${at}`] = { service: 'worker', port, env: { ...worker, ...own } }
  }
  return (name) => {
    const found = known[name]
    if (found === undefined) throw new Error(`no service is called "${name}"`)
    return { name, logDir, ...found }
  }
}
