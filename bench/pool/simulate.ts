import { percentilesOf } from '#platform/percentiles.ts'
import { openRandom } from '#platform/seeded-random.ts'
import { openPolicy, type PolicyName } from './policies.ts'
import { openSimulatedServer, type RequestShape, type ServerShape, type SimulatedServer } from './simulated-server.ts'
import { openVirtualClock, type VirtualClock } from './virtual-clock.ts'

export type Fault = 'dies' | 'hangs' | 'slow'

export type Scenario = {
  servers: number
  server: ServerShape
  request: RequestShape
  /** Distinct prefixes; how often each is used falls with its rank to the power of `skew` (Zipf). */
  prefixes: number
  skew: number
  /** Requests in flight at once; each is followed by the next. */
  concurrency: number
  requests: number
  seed: number
  /** Which server fails, and how, once so many requests have begun. */
  faults?: readonly { after: number; server: number; fault: Fault }[]
}

export type Simulated = {
  /** Answered requests per simulated second, without the first tenth, in which caches fill. */
  requestsPerS: number
  hitRate: number
  /** The busiest server's requests in flight divided by the mean: over time, and at the worst moment of sending one. */
  busiest: { overall: number; worst: number }
  lost: number
  /** From asking the pool to its answer. */
  latencyMs: { p50: number; p99: number; most: number }
}

const slowTimes = 5

/** Plays a scenario. The same seed gives the same figures on every machine. */
export async function simulate(policyName: PolicyName, scenario: Scenario): Promise<Simulated> {
  const clock = openVirtualClock()
  const random = openRandom(scenario.seed).fraction
  const servers = Array.from({ length: scenario.servers }, (_, at) =>
    openSimulatedServer(`http://10.0.0.${at + 1}:8000/v1`, scenario.server, clock),
  )
  const shape = scenario.request
  const policy = openPolicy(policyName, { servers, shape, maxInFlight: maxInFlightOf(scenario), clock, random })
  const drawPrefix = zipf(scenario, openRandom(scenario.seed + 1).fraction)
  const load = openLoadMeter(servers, clock)
  const latencies: number[] = []
  const state = { begun: 0, ended: 0, lost: 0 }
  const warm = { at: 0, hits: 0, served: 0, ended: Math.floor(scenario.requests / 10) }
  const serveOne = async () => {
    for (const { after, server, fault } of scenario.faults ?? []) {
      if (after === state.begun) strike(servers[server], fault)
    }
    state.begun += 1
    const start = clock.now()
    const serving = policy.serve(drawPrefix())
    load.note()
    await serving.catch(() => (state.lost += 1))
    latencies.push(clock.now() - start)
    state.ended += 1
    if (state.ended === warm.ended) Object.assign(warm, { at: clock.now(), ...totals(servers) })
  }
  const clients = Array.from({ length: scenario.concurrency }, async () => {
    while (state.begun < scenario.requests) await serveOne()
  })
  const isDone = await clock.runUntil(() => state.ended === scenario.requests)
  if (isDone) await Promise.all(clients)
  const { served, hits } = totals(servers)
  return {
    requestsPerS: (served - warm.served) / ((clock.now() - warm.at) / 1000),
    hitRate: (hits - warm.hits) / (served - warm.served),
    busiest: load.busiest(),
    lost: state.lost + (scenario.requests - state.ended),
    latencyMs: { p50: 0, p99: 0, ...percentilesOf(latencies), most: Math.max(0, ...latencies) },
  }
}

/** As an operator would set it: twice what the server runs at once. */
function maxInFlightOf({ server }: Pick<Scenario, 'server'>): number {
  return 2 * server.slots
}

function strike(server: SimulatedServer | undefined, fault: Fault): void {
  if (fault === 'dies') server?.die()
  else if (fault === 'hangs') server?.hang()
  else server?.slowDown(slowTimes)
}

function totals(servers: readonly SimulatedServer[]) {
  const sum = (of: 'served' | 'hits') => servers.reduce((total, { counted }) => total + counted[of], 0)
  return { served: sum('served'), hits: sum('hits') }
}

/** Measures the load whenever a request is sent; it counts until the next one is. */
function openLoadMeter(servers: readonly SimulatedServer[], clock: VirtualClock) {
  const areas = servers.map(() => 0)
  let [last, worst] = [0, 0]
  return {
    note() {
      const loads = servers.map((server) => server.inFlight())
      const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length
      for (const [at, load] of loads.entries()) areas[at] = (areas[at] ?? 0) + load * (clock.now() - last)
      last = clock.now()
      // With fewer than four at each, one more request is more than a quarter.
      if (mean >= 4) worst = Math.max(worst, Math.max(...loads) / mean)
    },
    busiest: () => ({
      overall: Math.max(...areas) / (areas.reduce((sum, area) => sum + area, 0) / areas.length),
      worst,
    }),
  }
}

function zipf({ prefixes, skew }: Scenario, random: () => number): () => string {
  const weights = Array.from({ length: prefixes }, (_, rank) => (rank + 1) ** -skew)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return () => {
    let left = random() * total
    const rank = weights.findIndex((weight) => (left -= weight) <= 0)
    return `bundle ${rank === -1 ? 0 : rank}`
  }
}
