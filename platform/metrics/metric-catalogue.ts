export type MeasuredService = 'api' | 'discovery' | 'worker' | 'conductor' | 'watcher' | 'setup' | 'publisher'

export type MetricRow = {
  kind: 'counter' | 'gauge' | 'histogram'
  /** A query takes the greatest value (`max`) of a gauge that every process of the service shows alike, and sums all others. */
  over: 'sum' | 'max'
  of: readonly MeasuredService[]
  /** Each takes values from a bounded set, never ids or paths. */
  labels: readonly string[]
  about: string
  /** They are upper bounds in seconds; only a histogram has them. */
  buckets?: readonly number[]
}

/** These bounds reach from a cached read to an operation of a slow model. */
const short = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10]
const long = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900]

const counter = { kind: 'counter', over: 'sum' } as const
const histogram = { kind: 'histogram', over: 'sum' } as const

const all = ['api', 'discovery', 'worker', 'conductor', 'watcher', 'setup', 'publisher'] as const

/** Each discovery process shows the same of the runs, the workers and the stores. */
const shared = { kind: 'gauge', over: 'max', of: ['discovery'] } as const
const ofEach = { kind: 'gauge', over: 'sum', of: ['worker'] } as const
// Names and units are those of Prometheus' own guide: base units, `_total` for counters.

const ofRuns = {
  remora_demand: {
    ...shared,
    labels: [],
    about:
      'operations that a worker could work on: those of `remora_operations`, and what is to be composed; at least 1 while any waits for a model; what workers are scaled by',
  },
  remora_load: {
    ...shared,
    labels: [],
    about: 'demand for each operation that the live workers take at once; absent while there is no worker',
  },
  remora_operations: {
    ...shared,
    labels: ['state'],
    about:
      'operations that are `ready`, `dispatched` or `running`, of runs that are executed: stopped ones are left out, as is what waits for a model or a budget',
  },
  remora_waiting: {
    ...shared,
    labels: ['reason'],
    about:
      'operations that wait, of runs that are executed: `operations` for others to end, `people` for an answer, `models` for one that is away, `budget` for tokens, since those of the run or of its project for today are used up',
  },
  remora_runs: { ...shared, labels: ['status', 'phase'], about: 'active runs' },
  remora_oldest_run_seconds: { ...shared, labels: ['phase'], about: 'age of the oldest active run of each phase' },
  remora_window: { ...shared, labels: [], about: 'operations that the dispatcher hands out at once' },
  remora_workers: { ...shared, labels: [], about: 'workers that are alive' },
  remora_model_capacity: {
    ...shared,
    labels: [],
    about: 'requests that the model servers take at once, by their limits for now; absent while no worker reports it',
  },
  remora_models_away: {
    ...shared,
    labels: ['model'],
    about: '1 for each model that no server answers for while a run needs it',
  },
  remora_outbox_results: { ...shared, labels: [], about: 'results of active runs that are not passed on yet' },
  remora_queue_jobs: {
    ...shared,
    labels: ['queue', 'state'],
    about: 'jobs of each queue that are `waiting`, `active` or `delayed`',
  },
  remora_recovered_operations_total: {
    ...counter,
    of: ['discovery'],
    labels: ['how'],
    about:
      "operations taken back: `swept` when their worker's lease had run out, also those that end for that; `requeued` when the queue had lost their job",
  },
  remora_stage_seconds: {
    ...histogram,
    of: ['discovery'],
    labels: ['stage', 'result'],
    buckets: long,
    about:
      'snapshots and plans: how long each took. `ok`; `failed`: it failed its run; `stopped`: its run was stopped; `idle`: there was nothing to do; `again`: a fault that may pass, or the end of the process, and its job comes again',
  },
  remora_redis_used_share: {
    ...shared,
    labels: [],
    about:
      "share of the fullest Redis server's memory that is used; above `REMORA_REDIS_MEMORY_SHARE` no run is accepted",
  },
} as const satisfies Record<string, MetricRow>

const ofOperations = {
  remora_operations_total: {
    ...counter,
    of: ['discovery', 'worker'],
    labels: ['agent', 'status', 'error_code'],
    about:
      'operations that ended, each counted once, by their status and, where there is one, their error code: by the worker that ended it, else (skipped, cancelled, lost too often, not answered in time, its model away for too long) by discovery',
  },
  remora_operation_seconds: {
    ...histogram,
    of: ['worker'],
    labels: ['agent', 'status'],
    buckets: long,
    about: 'how long an operation was worked on, all attempts that asked a person together',
  },
  remora_attempts_total: {
    ...counter,
    of: ['worker'],
    labels: ['agent', 'end'],
    about: 'attempts: `settled`, `suspended` (a person was asked) or `handed_back`',
  },
  remora_agent_tokens_total: {
    ...counter,
    of: ['worker'],
    labels: ['agent', 'kind'],
    about: 'tokens of ended operations: `prompt` and `completion`',
  },
  remora_tool_seconds: {
    ...histogram,
    of: ['worker'],
    labels: ['tool', 'outcome'],
    buckets: short,
    about: 'calls of tools, scripts in the sandbox included; a name that no tool has is `unknown`',
  },
  remora_event_lag_seconds: {
    ...histogram,
    of: ['worker'],
    labels: [],
    buckets: short,
    about: 'from an event of an attempt until the ledger has it; of each batch the oldest',
  },
  remora_worker_slots: {
    ...ofEach,
    labels: [],
    about: 'requests that this worker may have open at once at each of its model servers',
  },
} as const satisfies Record<string, MetricRow>

const askers = ['worker', 'conductor', 'watcher'] as const
const ofAsker = { kind: 'gauge', over: 'sum', of: askers } as const

const ofModels = {
  remora_decisions_total: {
    ...counter,
    of: ['conductor'],
    labels: ['question', 'result'],
    about:
      'decisions about runs, by what was asked (`bootstrap`, `decide`, `refine`) and what was decided; `invalid`: no answer could be carried out',
  },
  remora_model_requests_total: {
    ...counter,
    of: askers,
    labels: ['server', 'result'],
    about:
      'requests to model servers, retries and hedged ones too: `ok`, `left` (nobody waits any more) or an error code',
  },
  remora_model_request_seconds: {
    ...histogram,
    of: askers,
    labels: ['server'],
    buckets: long,
    about: 'from sending a request until its answer is whole',
  },
  remora_model_tokens_total: {
    ...counter,
    of: askers,
    labels: ['server', 'kind'],
    about: 'tokens of good answers: `prompt` and `completion`',
  },
  remora_model_in_flight: { ...ofAsker, labels: ['server'], about: 'requests of this process that are open' },
  remora_model_breaker_open: {
    ...ofAsker,
    labels: ['server'],
    about: '1 while the circuit breaker keeps requests from the server, 0 while it lets them through',
  },
  remora_model_queued: { ...ofAsker, labels: [], about: 'requests of this process that wait for a server' },
} as const satisfies Record<string, MetricRow>

const everyPublisher = { kind: 'gauge', over: 'max', of: ['publisher'] } as const

const ofPublishing = {
  remora_publications_total: {
    ...counter,
    of: ['publisher'],
    labels: ['outcome', 'error_code'],
    about:
      'how often the publisher came to an end with a run: `published` (its pull request is open), `without` one (nothing to publish, merged, closed, or held back), or `failed` with its code. A run that somebody decides on later comes again',
  },
  remora_pull_requests_total: {
    ...counter,
    of: ['publisher'],
    labels: ['change'],
    about: 'pull requests that were `opened`, `updated`, `merged` or `closed`',
  },
  remora_publications_overdue_seconds: {
    ...everyPublisher,
    labels: [],
    about: 'how long ago the publisher was to look at the run that has waited longest; 0 when it is up to date',
  },
  remora_oldest_webhook_seconds: {
    ...everyPublisher,
    of: ['api'],
    labels: [],
    about:
      'age of the oldest webhook that is not handled yet; 0 without one: of the api, since no publisher may be there',
  },
  remora_host_requests_total: {
    ...counter,
    of: ['publisher'],
    labels: ['result'],
    about: 'requests to GitHub by the class of their answers: `2xx`, `3xx`, `4xx`, `5xx`, or `none` that came in time',
  },
  remora_host_limit_left_share: {
    kind: 'gauge',
    over: 'max',
    of: ['publisher'],
    labels: [],
    about:
      'what is left of the hourly limit of requests, as GitHub says in its answers: of the installation that has the smallest share left, as this process has seen it',
  },
} as const satisfies Record<string, MetricRow>

const ofProcesses = {
  remora_http_request_seconds: {
    ...histogram,
    of: ['api'],
    labels: ['method', 'route', 'status'],
    buckets: short,
    about: 'requests by their declared route, until the answer begins; one that no route takes is `unknown`',
  },
  remora_store_request_seconds: {
    ...histogram,
    of: all,
    labels: ['request', 'result'],
    buckets: short,
    about:
      'requests to the object store: `ok`, `missing` (there is no such object), `away`, or `fault` (refused before or by the store)',
  },
  remora_build_info: {
    kind: 'gauge',
    over: 'sum',
    of: all,
    labels: ['version'],
    about: 'always 1; summed, the processes of each version of Remora',
  },
} as const satisfies Record<string, MetricRow>

/** Has every metric of our own: what is not in it is not exported. docs/reference/metrics.md is made from it. */
export const metricCatalogue = { ...ofRuns, ...ofOperations, ...ofModels, ...ofPublishing, ...ofProcesses }

export type MetricName = keyof typeof metricCatalogue
type OfKind<Kind extends MetricRow['kind']> = {
  [Name in MetricName]: (typeof metricCatalogue)[Name]['kind'] extends Kind ? Name : never
}[MetricName]
export type CounterName = OfKind<'counter'>
export type GaugeName = OfKind<'gauge'>
export type HistogramName = OfKind<'histogram'>
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<(typeof metricCatalogue)[Name]['labels'][number], string>
>
