/** A line through points by least squares: its slope, and twice the slope's standard error. */
export type FittedLine = { slope: number; error: number }

/** Needs three points with different x. */
export function fitLine(points: readonly { x: number; y: number }[]): FittedLine {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))]
  let [squares, products] = [0, 0]
  for (const { x, y } of points) {
    squares += (x - meanX) ** 2
    products += (x - meanX) * (y - meanY)
  }
  const slope = products / squares
  const left = points.map(({ x, y }) => (y - meanY - slope * (x - meanX)) ** 2)
  const variance = left.reduce((sum, value) => sum + value, 0) / (points.length - 2)
  return { slope, error: 2 * Math.sqrt(variance / squares) }
}
