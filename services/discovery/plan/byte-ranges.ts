/** Bytes of a file, end-exclusive. */
export type ByteRange = { startByte: number; endByte: number }

export function contains(outer: ByteRange, inner: ByteRange): boolean {
  return outer.startByte <= inner.startByte && inner.endByte <= outer.endByte
}

/** Those that no other one contains, in source order; of equal ones the first. */
export function outermost<Range extends ByteRange>(ranges: readonly Range[]): Range[] {
  const found: Range[] = []
  let end = -1
  for (const range of ranges.toSorted(bySource)) {
    if (range.endByte <= end) continue
    found.push(range)
    end = range.endByte
  }
  return found
}

/**
 * For each of `inner` the smallest of `outer` that contains it, the later one of two that are equal. An empty
 * one between two belongs to the second. Those that nothing contains are left out. One pass over both: a file may have tens
 * of thousands of nodes and of faults.
 */
export function innermostOf<Outer extends ByteRange, Inner extends ByteRange>(
  inner: readonly Inner[],
  outer: readonly Outer[],
): ReadonlyMap<Inner, Outer> {
  const found = new Map<Inner, Outer>()
  const opening = outer.toSorted(bySource).values()
  let next = opening.next()
  const open: Outer[] = []
  for (const one of inner.toSorted(bySource)) {
    for (; next.done !== true && next.value.startByte <= one.startByte; next = opening.next()) {
      closeUpTo(open, next.value.startByte)
      open.push(next.value)
    }
    closeUpTo(open, one.startByte - 1)
    const around = smallestAround(open, one)
    if (around !== undefined) found.set(one, around)
  }
  return found
}

/** Takes the ranges that end at a byte or before it off the top, down to one that goes on. */
function closeUpTo(open: ByteRange[], byte: number): void {
  for (let top = open.at(-1); top !== undefined && top.endByte <= byte; top = open.at(-1)) open.pop()
}

function smallestAround<Outer extends ByteRange>(open: readonly Outer[], inner: ByteRange): Outer | undefined {
  let found: Outer | undefined
  for (const one of open) if (contains(one, inner) && (found === undefined || sizeOf(one) <= sizeOf(found))) found = one
  return found
}

/** Whether a range has a byte in common with one of `ranges`; an empty one, which inserts, where it is inside of one. */
export function overlapFinder(ranges: readonly ByteRange[]): (range: ByteRange) => boolean {
  const merged: ByteRange[] = []
  for (const { startByte, endByte } of ranges.toSorted(bySource)) {
    const last = merged.at(-1)
    if (last !== undefined && startByte < last.endByte) last.endByte = Math.max(last.endByte, endByte)
    else merged.push({ startByte, endByte })
  }
  return ({ startByte, endByte }) => {
    const first = merged[firstIndex(merged.length, (at) => (merged[at]?.endByte ?? 0) > startByte)]
    return first !== undefined && first.startByte < endByte
  }
}

/** Whether one of `ranges` lies inside of a range. */
export function insideFinder(ranges: readonly ByteRange[]): (outer: ByteRange) => boolean {
  const sorted = ranges.toSorted(bySource)
  /** The least end of a range from each place on: what ends first of all that begin at or behind a byte. */
  const leastEnds = sorted.map(({ endByte }) => endByte)
  for (let at = leastEnds.length - 2; at >= 0; at--) {
    leastEnds[at] = Math.min(leastEnds[at] ?? Infinity, leastEnds[at + 1] ?? Infinity)
  }
  return ({ startByte, endByte }) => {
    const first = firstIndex(sorted.length, (at) => (sorted[at]?.startByte ?? 0) >= startByte)
    return (leastEnds[first] ?? Infinity) <= endByte
  }
}

/** By binary search: the first index below `count` for which `holds`, which holds for all behind it; else `count`. */
function firstIndex(count: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** An enclosing range before what it encloses; equal ones stay in their order. */
function bySource(one: ByteRange, other: ByteRange): number {
  return one.startByte - other.startByte || other.endByte - one.endByte
}

function sizeOf({ startByte, endByte }: ByteRange): number {
  return endByte - startByte
}
