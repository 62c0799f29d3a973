/**
 * Which of `items` make `passes` answer no, each alone, by halving. Those that do harm only together are in none of both
 * halves: then the answer is empty though all of them do not pass.
 */
export async function findCulprits<T>(
  items: readonly T[],
  passes: (some: readonly T[]) => Promise<boolean>,
): Promise<T[]> {
  if (items.length === 0 || (await passes(items))) return []
  if (items.length === 1) return [...items]
  const middle = items.length >> 1
  const first = await findCulprits(items.slice(0, middle), passes)
  return [...first, ...(await findCulprits(items.slice(middle), passes))]
}
