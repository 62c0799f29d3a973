import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '#testing/until.ts'
import { descendantsOf, type LivingProcess } from '../living-processes.ts'
import { repository } from '../program.ts'
import { type StoreAddress, storeEnv } from '../services.ts'
import { conductorCount } from './draw-conductor-fault.ts'
import { leaseMs, modelLimits } from './fault.ts'
import type { Machine } from './machines.ts'
import { testSigningKey } from '#testing/test-signer.ts'

export type ServiceProcess = {
  name: string
  origin: string
  /** Where it tells whether it is ready, also of an own machine. */
  port: number
  /** Adds to the environment of its starts from now on; false when that changes nothing. */
  configure(env: Readonly<Record<string, string>>): boolean
  /** Does nothing while it runs. */
  start(): void
  ready(): Promise<void>
  running(): boolean
  /** How often it was started. */
  starts(): number
  /** Sends the signal, and waits until the process has exited if the signal ends it. Returns false when it does not run. */
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): Promise<boolean>
  /** Exits without a signal from here, or with another exit code than the signal should cause. Each is returned once. */
  takeUnexpectedExits(): UnexpectedExit[]
  /** Children of processes of this service that have exited. */
  orphans(): readonly LivingProcess[]
}

/** `onDrain`: it got SIGTERM, but did not end cleanly. */
export type UnexpectedExit = { what: string; onDrain: boolean }

type ServiceSettings = {
  name: string
  /** Which of the services it is: a folder of `services`. */
  service: string
  port: number
  env: Readonly<Record<string, string>>
  logDir: string
  /** Where it runs; absent: on this machine. */
  machine?: Pick<Machine, 'address' | 'enter'>
}

/** On a machine that is busy with other things, too. */
const readyMs = 120_000
const node = `${repository}node_modules/.bin/node`

/** One service as a process that can be killed and started again on the same port; its log goes on in one file. */
export function openServiceProcess(settings: ServiceSettings): ServiceProcess {
  let { env } = settings
  const { name, port } = settings
  const origin = `http://${settings.machine?.address ?? '127.0.0.1'}:${port}`
  const orphans: LivingProcess[] = []
  const unexpectedExits: UnexpectedExit[] = []
  let child: ChildProcess | undefined
  let sent: string | undefined
  let starts = 0

  const start = () => {
    if (child !== undefined) return
    sent = undefined
    starts += 1
    const started = spawnService({ ...settings, env })
    child = started
    started.once('exit', (code, signal) => {
      child = undefined
      const onDrain = sent === 'SIGTERM'
      // 130: a second SIGTERM ends it at once.
      if (sent === 'SIGKILL' || (onDrain && (code === 0 || code === 130))) return
      unexpectedExits.push({
        what: `${name} ended with ${code ?? signal} ${onDrain ? 'on SIGTERM' : 'by itself'}`,
        onDrain,
      })
    })
  }
  const kill: ServiceProcess['kill'] = async (signal) => {
    const running = child
    if (running?.pid === undefined) return false
    if (signal === 'SIGSTOP' || signal === 'SIGCONT') return running.kill(signal)
    // Before it is ready nothing handles the signal, and there is nothing to drain.
    const drains = signal === 'SIGTERM' && (await answersReady(origin))
    orphans.push(...(await descendantsOf(running.pid)))
    const exited = once(running, 'exit')
    if (sent !== 'SIGKILL') sent = drains ? 'SIGTERM' : 'SIGKILL'
    running.kill(signal)
    if (child === running) await exited
    return true
  }
  const ready = () => untilReady({ name, origin, isRunning: () => child !== undefined, unexpectedExits })
  return {
    name,
    origin,
    port,
    configure(more) {
      const isNew = Object.entries(more).some(([variable, value]) => env[variable] !== value)
      env = { ...env, ...more }
      return isNew
    },
    start,
    ready,
    kill,
    running: () => child !== undefined,
    starts: () => starts,
    takeUnexpectedExits: () => unexpectedExits.splice(0),
    orphans: () => orphans,
  }
}

type Starting = { name: string; origin: string; isRunning(): boolean; unexpectedExits: readonly UnexpectedExit[] }

async function untilReady({ name, origin, isRunning, unexpectedExits }: Starting): Promise<void> {
  const startedOrEnded = async () => !isRunning() || answersReady(origin)
  await until(startedOrEnded, { withinMs: readyMs }).catch(async (cause: unknown) => {
    throw new Error(`${name} is not ready: ${await readiness(origin)}`, { cause })
  })
  if (!isRunning()) throw new Error(`${name} does not run; ${unexpectedExits.map(({ what }) => what).join('; ')}`)
}

/** With a channel to this process, so that it ends when this one does. */
function spawnService({ name, service, env, logDir, machine }: ServiceSettings): ChildProcess {
  const log = openSync(join(logDir, `${name}.log`), 'a')
  const [program, ...words] = [...(machine?.enter ?? []), node, `${repository}services/${service}/main.ts`]
  const child = spawn(program, words, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    cwd: repository,
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  return child
}

async function answersReady(origin: string): Promise<boolean> {
  const answer = await askReady(origin).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.status === 200
}

/** What it says of itself, or why it says nothing. */
function readiness(origin: string): Promise<string> {
  return askReady(origin)
    .then((answer) => answer.text())
    .catch(String)
}

function askReady(origin: string): Promise<Response> {
  return fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(2_000) })
}

type StackAddresses = {
  /** Of the stores and of the model server, as the services reach them. */
  address: StoreAddress
  modelUrl: string
  /** Those of the services that run on a machine of their own. */
  machineOf(name: string): ServiceSettings['machine']
  /** Six for api, two discoveries, rehearsal and the publisher with its own address, and one per conductor and worker. */
  ports: readonly number[]
  logDir: string
  tempDir: string
  token: string
  /** The bundles that the histories' runs name. */
  agentsDir: string
  /** Of the publisher and of the API, for the fake GitHub; undefined where there is none. */
  github: Record<'publisher' | 'api', Readonly<Record<string, string>>> | undefined
}

/** Returns the settings of a service's process, by the service's name. */
export function openServiceSettings(addresses: StackAddresses): (name: string) => ServiceSettings {
  const { address, logDir, tempDir, token, agentsDir, github } = addresses
  const [api = 0, discovery = 0, discovery2 = 0, rehearsal = 0, publisher = 0, access = 0, ...others] = addresses.ports
  const store = { ...storeEnv(address), TMPDIR: tempDir, REMORA_LEASE_MS: String(leaseMs) }
  const model = {
    ...store,
    REMORA_MODEL_URLS: `${addresses.modelUrl}/v1`,
    REMORA_MODEL_STREAM: 'false',
    REMORA_MODEL_TIMEOUT_MS: String(modelLimits.timeoutMs),
    REMORA_MODEL_RETRY_BUDGET_MS: String(modelLimits.retryBudgetMs),
  }
  const worker = {
    ...model,
    REMORA_WORKER_SLOTS: '4',
    REMORA_WORKER_SCRIPT_PROCESSES: '1',
    REMORA_DRAIN_MS: '200',
    REMORA_SANDBOX_DEFER_AFTER_S: '0.3',
    // More than there are cores: they only sleep.
    REMORA_SANDBOX_PROGRAMS: '8',
  }
  const secret = { REMORA_PUBLISHER_SECRET: 'only-the-chaos-uses-this-secret' }
  const reached = github && { ...secret, REMORA_PUBLISHER_URL: `http://127.0.0.1:${access}` }
  const discoveryEnv = { ...store, ...reached, REMORA_DISCOVERY_THREADS: '1', REMORA_AGENTS_DIR: agentsDir }
  const known: Record<string, Omit<ServiceSettings, 'name' | 'logDir'>> = {
    rehearsal: { service: 'rehearsal', port: rehearsal, env: { REMORA_REHEARSAL_PORT: String(rehearsal) } },
    api: {
      service: 'api',
      port: api,
      env: {
        ...store,
        REMORA_TOKEN: token,
        REMORA_SIGNING_KEY: testSigningKey,
        REMORA_API_PORT: String(api),
        REMORA_API_HEALTH_PORT: '0',
        REMORA_AGENTS_DIR: agentsDir,
        ...github?.api,
      },
    },
    publisher: {
      service: 'publisher',
      port: publisher,
      env: {
        ...store,
        ...secret,
        REMORA_SIGNING_KEY: testSigningKey,
        ...github?.publisher,
        REMORA_PUBLISHER_PORT: String(access),
        REMORA_PUBLISHER_HEALTH_PORT: String(publisher),
      },
    },
    discovery: {
      service: 'discovery',
      port: discovery,
      env: { ...discoveryEnv, REMORA_DISCOVERY_HEALTH_PORT: String(discovery) },
    },
    'discovery-2': {
      service: 'discovery',
      port: discovery2,
      env: { ...discoveryEnv, REMORA_DISCOVERY_HEALTH_PORT: String(discovery2) },
    },
  }
  for (const [at, port] of others.slice(0, conductorCount).entries()) {
    known[`conductor-${at}`] = {
      service: 'conductor',
      port,
      env: { ...model, REMORA_CONDUCTOR_HEALTH_PORT: String(port) },
    }
  }
  for (const [at, port] of others.slice(conductorCount).entries()) {
    const own = { REMORA_WORKER_ID: `worker-${at}`, REMORA_WORKER_HEALTH_PORT: String(port) }
    known[`worker-${at}`] = { service: 'worker', port, env: { ...worker, ...own } }
  }
  return (name) => {
    const found = known[name]
    if (found === undefined) throw new Error(`no service is called "${name}"`)
    const machine = addresses.machineOf(name)
    if (machine === undefined) return { name, logDir, ...found }
    // Asked from outside of its machine, and by itself.
    const env = { ...found.env, REMORA_API_HOST: '0.0.0.0', REMORA_HEALTH_HOST: '0.0.0.0' }
    return { name, logDir, ...found, env, machine }
  }
}
