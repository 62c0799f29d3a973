import { isEnded, isExecuting, type Run } from '#domain/run.ts'
import type { Fleet } from '#store/ledger/fleet.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { StageEnd } from '#store/ledger/run-stage.ts'
import { usedShare } from '#store/ledger/memory-gate.ts'
import type { Metrics } from '#platform/metrics/open-metrics.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { queueNames } from '#store/queues/catalog.ts'
import type { JobCounts, Producer } from '#store/queues/producer.ts'

export type Round = {
  runs: readonly Run[]
  window: number
}

type ShownDeps = {
  ledger: Pick<Ledger, 'countHeld' | 'outboxLength'>
  producer: Pick<Producer, 'countJobs'>
  redis: RedisClient
  readFleet(): Promise<Fleet>
}

/** A dispatcher that has stood still for so long says nothing about the runs. */
const freshMs = 15_000

/** Shows figures that are the same in every discovery process, so a query takes the greatest. The caller reports each round to the returned function. */
export function showRuns(metrics: Metrics, deps: ShownDeps): (round: Round) => void {
  let [last, at]: [Round | undefined, number] = [undefined, 0]
  const seen = () => {
    if (last === undefined || performance.now() - at > freshMs) throw new Error('the dispatcher stands still')
    return last
  }
  showLoad(metrics, { ...deps, seen })
  showStates(metrics, { ...deps, seen })
  showFleet(metrics, deps)
  showStores(metrics, { ...deps, seen })
  metrics.gauge('remora_window', () => unlabelled(seen().window))
  return (round) => {
    ;[last, at] = [round, performance.now()]
  }
}

type Seen = ShownDeps & { seen(): Round }

const unlabelled = (value: number) => [{ labels: {}, value }]

function showLoad(metrics: Metrics, { seen, ledger, producer, readFleet }: Seen): void {
  const demand = async () => {
    const { ready, dispatched, running, held } = await openOf(seen().runs, ledger)
    const jobs = await Promise.all([producer.countJobs('compositions'), producer.countJobs('patches')])
    // One that is put off wants a worker, too: at none, nobody else would take it up again.
    const composed = jobs.reduce((sum, { waiting, active, delayed }) => sum + waiting + active + delayed, 0)
    // Only a live worker notices that a model is back.
    return Math.max(ready + dispatched + running + composed, held > 0 ? 1 : 0)
  }
  metrics.gauge('remora_demand', async () => unlabelled(await demand()))
  metrics.gauge('remora_load', async () => {
    const [wanted, { operations }] = await Promise.all([demand(), readFleet()])
    return operations === 0 ? [] : unlabelled(wanted / operations)
  })
}

async function openOf(runs: readonly Run[], ledger: Pick<Ledger, 'countHeld'>) {
  const executing = runs.filter(isExecuting)
  const heldOf = async (waiting: readonly Run[]) =>
    sumOf(await Promise.all(waiting.map(({ runId }) => ledger.countHeld(runId))))
  const heldForBudget = await heldOf(executing.filter(({ usedBudgets }) => usedBudgets.length > 0))
  const held = await heldOf(executing.filter(({ away, usedBudgets }) => away.length > 0 && usedBudgets.length === 0))
  const sum = (state: OpenState) => sumOf(executing.map(({ counts }) => counts[state]))
  return {
    held,
    heldForBudget,
    ready: Math.max(0, sum('ready') - held - heldForBudget),
    dispatched: sum('dispatched'),
    running: sum('running'),
    pending: sum('pending'),
    waiting: sum('waiting'),
  }
}

type OpenState = 'ready' | 'dispatched' | 'running' | 'pending' | 'waiting'

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

function showStates(metrics: Metrics, { seen, ledger }: Seen): void {
  metrics.gauge('remora_operations', async () => {
    const { ready, dispatched, running } = await openOf(seen().runs, ledger)
    return Object.entries({ ready, dispatched, running }).map(([state, value]) => ({ labels: { state }, value }))
  })
  metrics.gauge('remora_waiting', async () => {
    const { pending, waiting, held, heldForBudget } = await openOf(seen().runs, ledger)
    const reasons = { operations: pending, people: waiting, models: held, budget: heldForBudget }
    return Object.entries(reasons).map(([reason, value]) => ({ labels: { reason }, value }))
  })
  metrics.gauge('remora_runs', () => {
    const open = seen().runs.filter(({ status }) => !isEnded(status))
    const groups = Map.groupBy(open, ({ status, phase }) => `${status} ${phase}`)
    return [...groups.values()].flatMap((same) => {
      const [first] = same
      return first === undefined ? [] : { labels: { status: first.status, phase: first.phase }, value: same.length }
    })
  })
  metrics.gauge('remora_oldest_run_seconds', () => {
    const byPhase = Map.groupBy(seen().runs, ({ phase }) => phase)
    return [...byPhase].map(([phase, same]) => {
      const oldest = Math.min(...same.map(({ acceptedAt }) => acceptedAt))
      return { labels: { phase }, value: Math.max(0, Date.now() - oldest) / 1000 }
    })
  })
  metrics.gauge('remora_models_away', () => {
    const away = new Set(seen().runs.flatMap((run) => run.away.map(({ model }) => model)))
    return [...away].map((model) => ({ labels: { model }, value: 1 }))
  })
}

function showFleet(metrics: Metrics, { readFleet }: ShownDeps): void {
  metrics.gauge('remora_workers', async () => unlabelled((await readFleet()).workers))
  metrics.gauge('remora_model_capacity', async () => {
    const { capacity } = await readFleet()
    return capacity === undefined ? [] : unlabelled(capacity)
  })
}

function showStores(metrics: Metrics, { seen, ledger, producer, redis }: Seen): void {
  metrics.gauge('remora_outbox_results', async () => {
    const lengths = await Promise.all(seen().runs.map(({ runId }) => ledger.outboxLength(runId)))
    return unlabelled(sumOf(lengths))
  })
  metrics.gauge('remora_queue_jobs', async () => {
    const counted = await Promise.all(
      queueNames.map(async (queue) => [queue, await producer.countJobs(queue)] as const),
    )
    return counted.flatMap(([queue, counts]) =>
      Object.entries(counts satisfies JobCounts).map(([state, value]) => ({ labels: { queue, state }, value })),
    )
  })
  metrics.gauge('remora_redis_used_share', async () => unlabelled(await usedShare(redis)))
}

/** It counts what `ledger` takes back, and what it ends without a worker. */
export function measuredLedger<Given extends Pick<Ledger, 'relayResults' | 'requeue' | 'sweep'>>(
  ledger: Given,
  { count }: Pick<Metrics, 'count'>,
): Given {
  // Prometheus sees no increase of a series that begins with its first loss.
  for (const how of ['swept', 'requeued']) count('remora_recovered_operations_total', { how }, 0)
  const measured: Pick<Ledger, 'relayResults' | 'requeue' | 'sweep'> = {
    async sweep(...args) {
      const answer = await ledger.sweep(...args)
      if (answer.takenBack > 0) count('remora_recovered_operations_total', { how: 'swept' }, answer.takenBack)
      return answer
    },
    async requeue(...args) {
      const again = await ledger.requeue(...args)
      if (again.length > 0) count('remora_recovered_operations_total', { how: 'requeued' }, again.length)
      return again
    },
    relayResults: (runId) =>
      ledger.relayResults(runId, ({ agent, status, error }) =>
        count('remora_operations_total', { agent, status, error_code: error?.error_code ?? '' }),
      ),
  }
  return { ...ledger, ...measured }
}

export async function measuredStage(
  stage: string,
  { observe }: Pick<Metrics, 'observe'>,
  run: () => Promise<StageEnd>,
): Promise<StageEnd> {
  const start = performance.now()
  const ended = (result: StageEnd | 'again') =>
    observe('remora_stage_seconds', { stage, result }, (performance.now() - start) / 1000)
  try {
    const end = await run()
    ended(end)
    return end
  } catch (error) {
    ended('again')
    throw error
  }
}
