import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '#testing/until.ts'
import { descendantsOf, type LivingProcess } from '../e2e/living-processes.ts'
import { repository } from '../e2e/program.ts'

export type ServiceProcess = {
  name: string
  origin: string
  /** Does nothing while it runs. */
  start(): void
  ready(): Promise<void>
  running(): boolean
  /** Sends the signal, and for one that ends a process waits until it is gone. False when it does not run. */
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): Promise<boolean>
  /** How it ended although nobody had told it to, or otherwise than it was told to. */
  takeSurprises(): Surprise[]
  /** What processes that are gone had started. */
  orphans(): readonly LivingProcess[]
}

/** `onDrain`: it was told to end, and could not do so cleanly. */
export type Surprise = { what: string; onDrain: boolean }

export type ServiceSettings = {
  name: string
  /** Which of the services it is: a folder of `services`. */
  service: string
  port: number
  env: Readonly<Record<string, string>>
  logDir: string
}

/** On a machine that is busy with other things, too. */
const readyMs = 120_000
const node = `${repository}node_modules/.bin/node`

/** One service as a process that can be killed and started again on the same port; its log goes on in one file. */
export function openServiceProcess(settings: ServiceSettings): ServiceProcess {
  const { name, port } = settings
  const origin = `http://127.0.0.1:${port}`
  const orphans: LivingProcess[] = []
  const surprises: Surprise[] = []
  let child: ChildProcess | undefined
  let told: string | undefined

  const start = () => {
    if (child !== undefined) return
    told = undefined
    const started = spawnService(settings)
    child = started
    started.once('exit', (code, signal) => {
      child = undefined
      const onDrain = told === 'SIGTERM'
      // 130: told twice, which ends it at once.
      if (told === 'SIGKILL' || (onDrain && (code === 0 || code === 130))) return
      surprises.push({ what: `${name} ended with ${code ?? signal} ${onDrain ? 'on SIGTERM' : 'by itself'}`, onDrain })
    })
  }
  const kill: ServiceProcess['kill'] = async (signal) => {
    const running = child
    if (running?.pid === undefined) return false
    if (signal === 'SIGSTOP' || signal === 'SIGCONT') return running.kill(signal)
    // Before it is ready nothing handles the signal, and there is nothing to drain.
    const drains = signal === 'SIGTERM' && (await answersReady(origin))
    orphans.push(...(await descendantsOf(running.pid)))
    const gone = once(running, 'exit')
    if (told !== 'SIGKILL') told = drains ? 'SIGTERM' : 'SIGKILL'
    running.kill(signal)
    if (child === running) await gone
    return true
  }
  const ready = () => untilReady({ name, origin, isRunning: () => child !== undefined, surprises })
  return {
    name,
    origin,
    start,
    ready,
    kill,
    running: () => child !== undefined,
    takeSurprises: () => surprises.splice(0),
    orphans: () => orphans,
  }
}

type Starting = { name: string; origin: string; isRunning(): boolean; surprises: readonly Surprise[] }

async function untilReady({ name, origin, isRunning, surprises }: Starting): Promise<void> {
  const startedOrEnded = async () => !isRunning() || answersReady(origin)
  await until(startedOrEnded, { withinMs: readyMs }).catch((cause: unknown) => {
    throw new Error(`${name} is not ready`, { cause })
  })
  if (!isRunning()) throw new Error(`${name} does not run; ${surprises.map(({ what }) => what).join('; ')}`)
}

/** With a channel to this process, so that it ends when this one does. */
function spawnService({ name, service, env, logDir }: ServiceSettings): ChildProcess {
  const log = openSync(join(logDir, `${name}.log`), 'a')
  const child = spawn(node, [`${repository}services/${service}/main.ts`], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    cwd: repository,
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  return child
}

async function answersReady(origin: string): Promise<boolean> {
  const answer = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.status === 200
}
