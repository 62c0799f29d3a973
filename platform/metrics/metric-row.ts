export type MeasuredService = 'api' | 'discovery' | 'worker' | 'setup' | 'publisher'

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
export const short = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10]
export const long = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900]

export const counter = { kind: 'counter', over: 'sum' } as const
export const histogram = { kind: 'histogram', over: 'sum' } as const
