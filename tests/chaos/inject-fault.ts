import type { RunId } from '#domain/ids.ts'
import { delay } from '#platform/clock.ts'
import { until } from '#testing/until.ts'
import type { ChaosStack } from './chaos-stack.ts'
import { type Fault, machineNames, type Outage } from './fault.ts'
import { cancelWithRetries } from './chaos-clients.ts'
import { ask, doubleMessages, loseMessages, loseWakes, say } from './conductor-faults.ts'
import { deleteJobs, duplicateJobs, wipeQueues } from './queue-faults.ts'
import type { Random } from '#platform/seeded-random.ts'
import type { ServiceProcess } from './service-process.ts'

export type FaultTargets = {
  stack: ChaosStack
  /** The history's own latency, which a slow model gets back. */
  latencyMs: number
  random: Random
  /** The run of the submission with this number, as soon as it is accepted. */
  runOf(submission: number): Promise<RunId>
}

/** Injects a fault and resolves when it is over, with what it affected. A fault without a target changes nothing. */
export async function injectFault(fault: Fault, targets: FaultTargets): Promise<string> {
  const { stack, random } = targets
  if (fault.kind === 'kill_publisher' && stack.host === undefined) return 'there is no code host'
  switch (fault.kind) {
    case 'kill_worker':
      return downFor(workerOf(fault.worker, stack), 'SIGKILL', fault.backAfterMs)
    case 'drain_worker':
      return downFor(workerOf(fault.worker, stack), 'SIGTERM', fault.backAfterMs)
    case 'freeze_worker':
      return freeze(workerOf(fault.worker, stack), fault.forMs)
    case 'kill_discovery':
      return downFor(stack.discovery, 'SIGKILL', fault.backAfterMs)
    case 'kill_api':
      return downFor(stack.apiProcess, 'SIGKILL', fault.backAfterMs)
    case 'second_discovery':
      return upFor(stack.secondDiscovery, fault.forMs)
    case 'kill_redis':
      return redisDownFor(stack, fault.backAfterMs)
    case 'break_store':
      stack.store.setFault(fault.how)
      await delay(fault.forMs)
      stack.store.setFault(undefined)
      return 'over'
    case 'duplicate_jobs':
      return `${await duplicateJobs(stack, { share: fault.share, random })} jobs`
    case 'delete_jobs':
      return `${await deleteJobs(stack.redis, { share: fault.share, random })} jobs`
    case 'wipe_queues':
      return `${await wipeQueues(stack.redis)} keys`
    case 'slow_model':
      await setModel(stack, 'latency', { ms: fault.latencyMs })
      await delay(fault.forMs)
      await setModel(stack, 'latency', { ms: targets.latencyMs })
      return 'over'
    case 'failing_model':
      await setModel(stack, 'faults', { shares: { [fault.answers]: 1 }, times: fault.times })
      return 'set'
    case 'models_away':
      return modelsAwayFor(fault.how, fault.forMs, targets)
    case 'models_flap':
      for (let time = 0; time < fault.times; time++) {
        if (time > 0) await delay(fault.backMs)
        await modelsAwayFor(fault.how, fault.awayMs, targets)
      }
      return 'over'
    case 'cancel_run':
      return `answered ${await cancelWithRetries(stack.api, await targets.runOf(fault.run))}`
    case 'kill_conductor':
      return downFor(conductorOf(fault.conductor, stack), 'SIGKILL', fault.backAfterMs)
    case 'freeze_conductor':
      return freeze(conductorOf(fault.conductor, stack), fault.forMs)
    case 'double_messages':
      return doubleMessages(stack, await targets.runOf(fault.run), fault.forMs)
    case 'lose_messages':
      return loseMessages(stack, await targets.runOf(fault.run), fault.forMs)
    case 'lose_wakes':
      return loseWakes(stack, fault.forMs, random)
    case 'say':
      return say(stack, await targets.runOf(fault.run), fault.times)
    case 'ask':
      return ask(stack, await targets.runOf(fault.run), fault.times)
    case 'kill_publisher':
      return downFor(stack.publisher, 'SIGKILL', fault.backAfterMs)
    case 'lose_webhooks':
    case 'double_webhooks':
    case 'late_webhooks':
    case 'shuffle_webhooks':
    case 'github_away':
      return (await stack.host?.inject(fault, random)) ?? 'there is no code host'
    case 'delay':
    case 'cut':
    case 'half_cut':
    case 'lose_connections':
      if (stack.network === undefined) return 'there is no network'
      return stack.network.inject(fault, serviceOn(fault.machine, stack))
  }
}

async function modelsAwayFor(how: Outage, ms: number, { stack, latencyMs }: FaultTargets): Promise<string> {
  if (how !== 'refused') {
    await setModel(stack, 'faults', { shares: { [how]: 1 } })
    await delay(ms)
    await setModel(stack, 'faults', { shares: {} })
    return 'over'
  }
  const met = await downFor(stack.rehearsal, 'SIGKILL', ms)
  await setModel(stack, 'latency', { ms: latencyMs })
  return met
}

/** Sets the latency or the faults of the rehearsal model. Waits while it is down: another fault may have killed it. */
export async function setModel(
  { rehearsal }: Pick<ChaosStack, 'rehearsal'>,
  what: 'latency' | 'faults',
  settings: object,
): Promise<void> {
  const post = () => fetch(`${rehearsal.origin}/${what}`, { method: 'POST', body: JSON.stringify(settings) })
  const answer = await until(() => post().catch(() => undefined), { withinMs: 60_000 })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`POST /${what} answered ${answer.status}: ${text}`)
}

function workerOf(at: number, { workers }: ChaosStack): ServiceProcess {
  const worker = workers[at]
  if (worker === undefined) throw new Error(`there is no worker ${at}`)
  return worker
}

function conductorOf(at: number, { conductors }: ChaosStack): ServiceProcess {
  const conductor = conductors[at]
  if (conductor === undefined) throw new Error(`there is no conductor ${at}`)
  return conductor
}

function serviceOn(machine: number, { apiProcess, discovery, workers }: ChaosStack): ServiceProcess {
  const service = [apiProcess, discovery, ...workers].find(({ name }) => name === machineNames[machine])
  if (service === undefined) throw new Error(`there is no machine ${machine}`)
  return service
}

async function downFor(service: ServiceProcess, signal: 'SIGKILL' | 'SIGTERM', ms: number): Promise<string> {
  if (!(await service.kill(signal))) return 'it was down'
  await delay(ms)
  service.start()
  return 'started again'
}

async function freeze(service: ServiceProcess, ms: number): Promise<string> {
  if (!(await service.kill('SIGSTOP'))) return 'it was down'
  await delay(ms)
  await service.kill('SIGCONT')
  return 'goes on'
}

async function upFor(service: ServiceProcess, ms: number): Promise<string> {
  if (service.running()) return 'it was up'
  service.start()
  await service.ready()
  await delay(ms)
  await service.kill('SIGKILL')
  return 'ended'
}

async function redisDownFor(stack: ChaosStack, ms: number): Promise<string> {
  if (!(await stack.killRedis())) return 'it was down'
  await delay(ms)
  await stack.startRedis()
  return 'started again'
}
