import { openDeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import { isEnded } from '#domain/run.ts'
import { until } from '#testing/until.ts'
import type { HostTally, PushedHistory } from './chaos-host.ts'
import type { ChaosStack } from './chaos-stack.ts'
import { checkPushes, runsOfPushes, settlePushes } from './check-pushes.ts'
import { allEvents, checkPatches, checkRun, type HistoryRun, type RunCheck } from './check-run.ts'
import type { History } from './draw-history.ts'
import type { NetworkTally } from './chaos-network.ts'
import type { FaultName } from './fault.ts'
import { findLeftovers } from './find-leftovers.ts'
import { setModel } from './inject-fault.ts'
import { openAnswerers, openAsksOf, patchOf } from './chaos-clients.ts'
import type { ServiceProcess } from './service-process.ts'
import { runWithFaults } from './run-with-faults.ts'
import { testSigner } from '#testing/test-signer.ts'

export type HistoryOutcome = {
  history: History
  /** A line per fault: what it was, and what it affected. */
  met: readonly string[]
  runs: readonly HistoryRun[]
  operations: number
  retried: number
  /** Those of the retried whose worker's lease had run out. */
  lost: number
  answered: number
  /** How often an operation went on with what a tool that took long ended with. */
  deferred: number
  /** What faults of the network did; undefined without machines. */
  network: NetworkTally | undefined
  /** What was pushed, and what became of the webhooks; undefined without pushes. */
  host: HostTally | undefined
  durationMs: number
  violations: readonly string[]
}

/** How long runs may take to end once everything is repaired. */
const endMs = 60_000
/**
 * The same after faults of the network, where what waits for an object may wait for a minute before it asks again, and where runs have
 * objectives: these are planned item by item.
 */
const patientEndMs = 180_000

/** Submits the history's runs, makes its pushes, injects its faults, repairs everything, and checks the result. */
export async function runHistory(history: History, stack: ChaosStack): Promise<HistoryOutcome> {
  const startedAt = performance.now()
  await setServices(history, stack)
  await setModel(stack, 'latency', { ms: history.latencyMs })
  const answerers = openAnswerers(stack.api)
  const { runs: submitted, met, pushed, violations } = await runWithFaults(history, stack, answerers.add)
  await repair(stack)
  violations.push(...(await unfinished(submitted, stack, history.policy)), ...(await answerers.close()))
  violations.push(...((await stack.network?.settle()) ?? []))
  const host = pushed && (await afterPushes(history, { pushed, met }, stack))
  violations.push(...(host?.violations ?? []))
  const runs = [...submitted, ...(host?.runs ?? [])]
  const leftovers = violations.length === 0 ? await findLeftovers(runs, stack) : []
  const checks = await Promise.all(runs.map((run) => checkRun(run, stack)))
  violations.push(...leftovers, ...checks.flatMap((check) => check.violations))
  violations.push(...(await badPatches(history, { runs: submitted, checks }, stack)))
  violations.push(...badEndings(history, stack))
  return {
    history,
    met,
    runs,
    operations: sum(checks.map((check) => check.operations)),
    retried: sum(checks.map((check) => check.retried)),
    lost: sum(checks.map((check) => check.lost)),
    answered: sum(checks.map((check) => check.answered)),
    deferred: sum(checks.map((check) => check.deferred)),
    network: stack.network?.takeTally(),
    host: host?.tally,
    durationMs: Math.round(performance.now() - startedAt),
    violations,
  }
}

type AfterPushes = { runs: HistoryRun[]; violations: string[]; tally: HostTally }

/** Waits for what the history's pushes lead to, and checks it. */
async function afterPushes(
  { repository, faults }: History,
  { pushed, met }: { pushed: PushedHistory; met: readonly string[] },
  stack: ChaosStack,
): Promise<AfterPushes> {
  const { api, ledger, redis } = stack
  const pushStack = { api, ledger, inbox: openDeliveryInbox(redis, 'remora', { signer: testSigner }) }
  const settled = async () => {
    const { runs: all, violations: open } = await settlePushes(pushed, pushStack)
    // What is not settled is no more than that.
    return { runs: all, violations: open.length > 0 ? open : await checkPushes(pushed, all, pushStack) }
  }
  let { runs, violations } = await settled()
  if (violations.length === 0 && repository !== undefined) {
    await pushed.merge(repository.merge)
    ;({ runs, violations } = await settled())
  }
  const asked = stack.host?.takeViolations() ?? []
  const kinds = faults.map(({ kind }) => kind)
  const counts = {
    pushes: repository?.pushes.length ?? 0,
    kills: met.filter((line) => / kill_publisher .*: started again$/.test(line)).length,
  }
  return {
    runs: await runsOfPushes(runs, pushed, kinds),
    violations: [...violations, ...asked.map((what) => `not as GitHub has it: ${what}`)],
    tally: pushed.tally(counts),
  }
}

/** Workers read at their start whether to have replies streamed, and conductors by which script the model decides. */
async function setServices({ streams, policy }: History, { workers, conductors }: ChaosStack): Promise<void> {
  const changed = [
    ...workers.filter((worker) => worker.configure({ REMORA_MODEL_STREAM: String(streams) })),
    ...conductors.filter(
      (conductor) => policy && conductor.configure({ REMORA_CONDUCTOR_MODEL: `rehearsal/${policy}` }),
    ),
  ]
  await Promise.all(changed.map((service) => service.kill('SIGTERM')))
  for (const service of changed) service.start()
  await Promise.all(changed.map((service) => service.ready()))
}

/** Starts what is down and removes all faults; a frozen process or a drain has ended by itself. */
async function repair(stack: ChaosStack): Promise<void> {
  stack.store.setFault(undefined)
  await stack.startRedis()
  stack.host?.repair()
  await setModel(stack, 'faults', { shares: {} })
  await setModel(stack, 'latency', { ms: 0 })
  const services = servicesOf(stack).filter((service) => service !== stack.secondDiscovery)
  for (const service of services) service.start()
  await Promise.all(services.map((service) => service.ready()))
}

/** Waits for the runs, and then for what was asked about them. Returns which of the runs have not ended. */
async function unfinished(
  runs: readonly HistoryRun[],
  { api, ledger, network }: ChaosStack,
  policy: string | undefined,
): Promise<string[]> {
  const states = async () => Promise.all(runs.map(({ runId }) => ledger.getRun(runId)))
  const allEnded = async () => (await states()).every(({ status }) => isEnded(status))
  const withinMs = network === undefined && policy === undefined ? endMs : patientEndMs
  await until(allEnded, { withinMs }).catch(() => {})
  const asksOf = async ({ runId }: HistoryRun) => openAsksOf(api, { runId, events: await allEvents(runId, ledger) })
  const asked = async () => (await Promise.all(runs.map(asksOf))).flat()
  await until(asked, { holds: ({ length }) => length === 0, withinMs }).catch(() => {})
  const open = (await states()).filter(({ status }) => !isEnded(status))
  return open.map((run) => `run ${run.runId} did not end: ${JSON.stringify(run)}`)
}

async function badPatches(
  history: History,
  { runs, checks }: { runs: readonly HistoryRun[]; checks: readonly RunCheck[] },
  { api }: ChaosStack,
): Promise<string[]> {
  const completed = runs.filter((_run, at) => checks[at]?.status === 'completed')
  const patches = await Promise.all(completed.map(async ({ runId }) => ({ runId, patch: await patchOf(api, runId) })))
  return checkPatches(history.source, patches)
}

const takesRedisAway = new Set<FaultName>(['kill_redis', 'cut', 'half_cut', 'lose_connections'])

/** A draining worker hands its operations back. While Redis is away it cannot, and may end with an error. */
function badEndings({ faults }: History, stack: ChaosStack): string[] {
  const redisWasDown = faults.some(({ kind }) => takesRedisAway.has(kind))
  const unexpectedExits = servicesOf(stack).flatMap((service) => service.takeUnexpectedExits())
  return unexpectedExits.filter(({ onDrain }) => !(onDrain && redisWasDown)).map(({ what }) => what)
}

function servicesOf(stack: ChaosStack): ServiceProcess[] {
  const { rehearsal, apiProcess, discovery, secondDiscovery, publisher, host, conductors, workers } = stack
  const ofHost = host === undefined ? [] : [publisher]
  return [rehearsal, apiProcess, discovery, secondDiscovery, ...ofHost, ...conductors, ...workers]
}

function sum(numbers: readonly number[]): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}
