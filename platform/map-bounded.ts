/** Runs at most `limit` calls at once, and returns results in the order of `items`. The first failure stops new calls. */
export async function mapBounded<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>) {
  const results: R[] = []
  const waiting = items.entries()
  let failed = false
  const workers = Array.from({ length: Math.min(limit, items.length) }, async () => {
    for (const [index, item] of waiting) {
      if (failed) return
      try {
        results[index] = await work(item)
      } catch (error) {
        failed = true
        throw error
      }
    }
  })
  await Promise.all(workers)
  return results
}
