/** Services by the name of their processes; each has the metrics that name it. */
export type MeasuredService = 'api' | 'discovery' | 'worker' | 'setup' | 'publisher'

export type MetricRow = {
  kind: 'counter' | 'gauge' | 'histogram'
  /** Of a gauge that every process of the service shows alike, a query takes the greatest; all others it sums. */
  over: 'sum' | 'max'
  of: readonly MeasuredService[]
  /** Each takes values from a bounded set: names of agents, tools, routes, servers and codes, never ids or paths. */
  labels: readonly string[]
  about: string
  /** Upper bounds, in seconds; of a histogram alone. */
  buckets?: readonly number[]
}

/** From a cached read to an operation of a slow model. */
export const short = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10]
export const long = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900]

export const counter = { kind: 'counter', over: 'sum' } as const
export const histogram = { kind: 'histogram', over: 'sum' } as const
