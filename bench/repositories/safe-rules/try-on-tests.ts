/** A test suite over a tree that can be put into any state. */
export type TestBed = {
  name: string
  /** Ids of tests that pass on the tree as it is. */
  passing: readonly string[]
  /** Makes the safe fixes of `rules` on the tree as it was. */
  apply(rules: readonly string[]): Promise<void>
  /** Of `ids`, those that do not pass on the tree as it is now. */
  lost(ids: readonly string[]): Promise<string[]>
}

export type TestTrial = {
  /** Rule → tests that no longer pass with its fixes alone. */
  culprits: Map<string, string[]>
  /** Tests that only several rules together change, so that none is to blame. */
  together: string[]
}

/**
 * Makes the fixes of all rules at once and runs the tests; when some change, finds by halving which rules do it alone
 * (with only those tests), leaves them out and starts again, until the whole suite passes.
 */
export async function tryOnTests(bed: TestBed, rules: readonly string[]): Promise<TestTrial> {
  const culprits = new Map<string, string[]>()
  let left = rules
  for (;;) {
    await bed.apply(left)
    const flaky = new Set<string>()
    let lost = await bed.lost(bed.passing)
    if (lost.length > 0) {
      // Tests that also fail without any fix are not caused by the rules.
      await bed.apply([])
      for (const id of await bed.lost(lost)) flaky.add(id)
      lost = lost.filter((id) => !flaky.has(id))
    }
    console.log(`${bed.name}: ${left.length} rules, ${lost.length} tests changed, ${flaky.size} flaky`)
    if (lost.length === 0) return { culprits, together: [] }
    const found = await findCulprits(left, async (some) => {
      await bed.apply(some)
      return (await bed.lost(lost)).length === 0
    })
    if (found.length === 0) return { culprits, together: lost }
    for (const rule of found) {
      await bed.apply([rule])
      culprits.set(rule, await bed.lost(lost))
      console.log(`${bed.name}: ${rule} changes ${culprits.get(rule)?.slice(0, 3).join(', ')}`)
    }
    left = left.filter((rule) => !culprits.has(rule))
  }
}

/**
 * Finds by halving the `items` for which `passes` resolves to false, each alone. Items that fail only together may be in different
 * halves: then the result is empty although all of them together fail.
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
