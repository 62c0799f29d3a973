export type Percentiles = { p50: number; p95: number; p99: number }

/** Takes the nearest rank: each is one of the values. Returns undefined for none. */
export function percentilesOf(values: readonly number[]): Percentiles | undefined {
  const sorted = values.toSorted((left, right) => left - right)
  const [first] = sorted
  if (first === undefined) return undefined
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? first
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
