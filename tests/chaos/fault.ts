import type { Random } from '#platform/seeded-random.ts'
import type { ConductorFault } from './draw-conductor-fault.ts'

/**
 * One thing that goes wrong. `atMs` counts from the first submission, or with `after` from when an operation of that submission's run first
 * waits for a tool, or the run has ended; `backAfterMs` and `forMs` count from the fault.
 */
export type Fault = { atMs: number; after?: ['deferred' | 'ended', number] } & FaultKind

type FaultKind = OrdinaryFault | NetworkFault | HostFault | ConductorFault

/** Of processes, stores, queues and models. */
type OrdinaryFault =
  | { kind: 'kill_worker'; worker: number; backAfterMs: number }
  | { kind: 'drain_worker'; worker: number; backAfterMs: number }
  /** SIGSTOP until after its lease has run out, then SIGCONT. */
  | { kind: 'freeze_worker'; worker: number; forMs: number }
  | { kind: 'kill_discovery'; backAfterMs: number }
  | { kind: 'second_discovery'; forMs: number }
  | { kind: 'kill_api'; backAfterMs: number }
  | { kind: 'kill_redis'; backAfterMs: number }
  | { kind: 'break_store'; how: StoreFault; forMs: number }
  /** The same payload again under another job id. */
  | { kind: 'duplicate_jobs'; share: number }
  /** Waiting and active jobs vanish from the queues. */
  | { kind: 'delete_jobs'; share: number }
  /** Every key of the queues, none of the ledger. */
  | { kind: 'wipe_queues' }
  | { kind: 'slow_model'; latencyMs: number; forMs: number }
  | { kind: 'failing_model'; answers: ModelFault; times: number }
  /** No server of the model works, for longer than any budget of a request. */
  | { kind: 'models_away'; how: Outage; forMs: number }
  /** The same for short times, with short times between. */
  | { kind: 'models_flap'; how: Outage; awayMs: number; backMs: number; times: number }
  | { kind: 'cancel_run'; run: number }

/** Of a service that has a machine to itself. Nobody gets an error for what is lost. */
export type NetworkFault = { machine: number } &
  /** What it sends and receives arrives late. */
  (
    | { kind: 'delay'; ms: number; forMs: number }
    /** Nothing it sends arrives, and nothing that is sent to it. */
    | { kind: 'cut'; forMs: number }
    | { kind: 'half_cut'; lost: 'sent' | 'received'; forMs: number }
    /** Its open connections go silent for ever; new ones work. */
    | { kind: 'lose_connections' }
  )

/** Of the code host and its webhooks, in histories with pushes. */
export type HostFault =
  /** None arrives; GitHub lists them as failed. */
  | { kind: 'lose_webhooks'; forMs: number }
  /** The next ones arrive twice. */
  | { kind: 'double_webhooks'; times: number }
  /** The next ones arrive later, after newer ones. */
  | { kind: 'late_webhooks'; ms: number; times: number }
  /** None arrives until they all do, in another order. */
  | { kind: 'shuffle_webhooks'; forMs: number }
  | { kind: 'kill_publisher'; backAfterMs: number }
  | { kind: 'github_away'; how: HostOutage; forMs: number }

/** `reset_after`: the request has its effect, but no answer. */
export type HostOutage = '503' | 'reset_before' | 'reset_after' | 'secondary_limit'
export type StoreFault = '503' | 'slow' | 'reset'
export type ModelFault = '429' | '503' | 'reset' | 'truncated'
/** `refused`: the server is killed, so that connections to it are refused. `stall`: replies stop in the middle. */
export type Outage = 'refused' | '503' | 'hang' | 'stall'
export type FaultName = FaultKind['kind']

export const faultNames = [
  'kill_worker',
  'drain_worker',
  'freeze_worker',
  'kill_discovery',
  'second_discovery',
  'kill_api',
  'kill_redis',
  'break_store',
  'duplicate_jobs',
  'delete_jobs',
  'wipe_queues',
  'slow_model',
  'failing_model',
  'models_away',
  'models_flap',
  'cancel_run',
] as const satisfies readonly OrdinaryFault['kind'][]
export const networkFaultNames = [
  'delay',
  'cut',
  'half_cut',
  'lose_connections',
] as const satisfies readonly NetworkFault['kind'][]

export const hostFaultNames = [
  'lose_webhooks',
  'double_webhooks',
  'late_webhooks',
  'shuffle_webhooks',
  'kill_publisher',
  'github_away',
] as const satisfies readonly HostFault['kind'][]

/** `1204 ms kill_worker worker=1 backAfterMs=300` */
export function describeFault({ atMs, kind, ...rest }: Fault): string {
  const settings = Object.entries(rest).map(([name, value]) => `${name}=${value}`)
  return [`${atMs} ms`, kind, ...settings].join(' ')
}

/** How long a worker may be silent, in ms: short, so that the operations of a lost one are soon taken back. */
export const leaseMs = 3_000
export const workerCount = 3
/** The services whose machines network faults hit, by their names. */
export const machineNames = ['api', 'discovery', ...Array.from({ length: workerCount }, (_none, at) => `worker-${at}`)]
/** Of one request to the model, and how long after its first failure it may be tried again, in ms. */
export const modelLimits = { timeoutMs: 4_000, retryBudgetMs: 1_500 }

/** How often each kind is drawn, relative to the others. */
const weights: readonly (readonly [OrdinaryFault['kind'], number])[] = [
  ['kill_worker', 5],
  ['drain_worker', 2],
  ['freeze_worker', 2],
  ['kill_discovery', 3],
  ['second_discovery', 1],
  ['kill_api', 1],
  ['kill_redis', 2],
  ['break_store', 3],
  ['duplicate_jobs', 2],
  ['delete_jobs', 2],
  ['wipe_queues', 1],
  ['slow_model', 1],
  ['failing_model', 1],
  ['models_away', 2],
  ['models_flap', 2],
  ['cancel_run', 1],
]
const outages: readonly [Outage, ...Outage[]] = ['refused', '503', 'hang', 'stall']
const names = weights.flatMap(([name, weight]) => Array.from({ length: weight }, () => name))

/** Draws the next fault of a history with this many runs. */
export function drawFault(random: Random, runs: number): OrdinaryFault {
  const kind = names[random.int(0, names.length - 1)] ?? 'kill_worker'
  const backAfterMs = random.int(0, 1_200)
  const worker = random.int(0, workerCount - 1)
  const share = random.int(2, 10) / 10
  switch (kind) {
    case 'kill_worker':
    case 'drain_worker':
      return { kind, worker, backAfterMs }
    case 'freeze_worker':
      return { kind, worker, forMs: leaseMs + random.int(200, 1_200) }
    case 'kill_discovery':
    case 'kill_api':
    case 'kill_redis':
      return { kind, backAfterMs }
    case 'second_discovery':
      return { kind, forMs: random.int(500, 2_500) }
    case 'break_store':
      return { kind, how: random.pick(['503', 'slow', 'reset']), forMs: random.int(1_000, 4_000) }
    case 'duplicate_jobs':
    case 'delete_jobs':
      return { kind, share }
    case 'wipe_queues':
      return { kind }
    case 'slow_model':
      return { kind, latencyMs: random.int(500, 3_000), forMs: random.int(500, 2_000) }
    case 'failing_model':
      return { kind, answers: random.pick(['429', '503', 'reset', 'truncated']), times: random.int(1, 6) }
    case 'models_away': {
      const longestMs = modelLimits.timeoutMs + modelLimits.retryBudgetMs
      return { kind, how: random.pick(outages), forMs: longestMs + random.int(500, 4_000) }
    }
    case 'models_flap': {
      const [awayMs, backMs] = [random.int(300, 2_000), random.int(200, 2_000)]
      return { kind, how: random.pick(outages), awayMs, backMs, times: random.int(2, 4) }
    }
    case 'cancel_run':
      return { kind, run: random.int(0, runs - 1) }
  }
}

type NetworkKind = NetworkFault['kind']
const networkKinds: readonly [NetworkKind, ...NetworkKind[]] = [
  'delay',
  'cut',
  'cut',
  'half_cut',
  'half_cut',
  'lose_connections',
]

/** Draws a fault of the network. Workers are hit most often: they hold what must not be lost. */
export function drawNetworkFault(random: Random): NetworkFault {
  const machine = random.chance(0.7) ? 2 + random.int(0, workerCount - 1) : random.int(0, 1)
  const kind = random.pick(networkKinds)
  switch (kind) {
    case 'delay':
      return { kind, machine, ms: random.int(5, 200), forMs: random.int(1_000, 8_000) }
    case 'cut':
      return { kind, machine, forMs: drawCutMs(random) }
    case 'half_cut':
      return { kind, machine, lost: random.pick(['sent', 'received']), forMs: drawCutMs(random) }
    case 'lose_connections':
      return { kind, machine }
  }
}

/** Shorter than a lease, longer than one, or longer than every limit of a connection. */
function drawCutMs(random: Random): number {
  const [least, most] = random.pick([
    [1_000, leaseMs],
    [leaseMs + 500, 10_000],
    [leaseMs + 500, 10_000],
    [10_000, 40_000],
  ])
  return random.int(least, most)
}

/** How often each kind is drawn, relative to the others. */
const hostKinds: readonly [HostFault['kind'], ...HostFault['kind'][]] = [
  'lose_webhooks',
  'lose_webhooks',
  'double_webhooks',
  'late_webhooks',
  'late_webhooks',
  'shuffle_webhooks',
  'kill_publisher',
  'kill_publisher',
  'kill_publisher',
  'github_away',
]

/** Draws a fault of the code host. */
export function drawHostFault(random: Random): HostFault {
  const kind = random.pick(hostKinds)
  switch (kind) {
    case 'lose_webhooks':
      return { kind, forMs: random.int(500, 4_000) }
    case 'double_webhooks':
      return { kind, times: random.int(1, 4) }
    case 'late_webhooks':
      return { kind, ms: random.int(300, 6_000), times: random.int(1, 4) }
    case 'shuffle_webhooks':
      return { kind, forMs: random.int(1_000, 5_000) }
    case 'kill_publisher':
      return { kind, backAfterMs: random.int(0, 1_200) }
    case 'github_away':
      return {
        kind,
        how: random.pick(['503', 'reset_before', 'reset_after', 'secondary_limit']),
        forMs: random.int(300, 3_000),
      }
  }
}
