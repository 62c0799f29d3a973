import { diffArrays } from 'diff'

/** A run of replaced items, `[start, end)` in each of the two sequences; one of the two may be empty. */
export type ChangedRun = { before: Range; after: Range }
type Range = { start: number; end: number }

const maxEditLength = 1000
/** The sequences are first divided at anchors when both have more items. */
const shortItems = 200

/** Returns where two sequences differ, in order; a part that exceeds `maxEditLength` is one run. */
export function changedRuns(before: readonly string[], after: readonly string[]): ChangedRun[] {
  const whole = trimmed({
    before: { items: before, start: 0, end: before.length },
    after: { items: after, start: 0, end: after.length },
  })
  const runs: ChangedRun[] = []
  let from = { before: whole.before.start, after: whole.after.start }
  for (const next of [...anchorsIn(whole), { before: whole.before.end, after: whole.after.end }]) {
    const part = {
      before: { items: before, start: from.before, end: next.before },
      after: { items: after, start: from.after, end: next.after },
    }
    runs.push(...runsIn(trimmed(part)))
    from = { before: next.before + 1, after: next.after + 1 }
  }
  return runs
}

type Part = Range & { items: readonly string[] }
type Parts = { before: Part; after: Part }

function trimmed({ before, after }: Parts): Parts {
  let [start, startAfter] = [before.start, after.start]
  let [end, endAfter] = [before.end, after.end]
  const itemBefore = (at: number) => before.items[at]
  const itemAfter = (at: number) => after.items[at]
  while (start < end && startAfter < endAfter && itemBefore(start) === itemAfter(startAfter))
    [start, startAfter] = [start + 1, startAfter + 1]
  while (start < end && startAfter < endAfter && itemBefore(end - 1) === itemAfter(endAfter - 1))
    [end, endAfter] = [end - 1, endAfter - 1]
  return { before: { ...before, start, end }, after: { ...after, start: startAfter, end: endAfter } }
}

type Pair = { before: number; after: number }

function anchorsIn({ before, after }: Parts): Pair[] {
  if (before.end - before.start + after.end - after.start <= shortItems) return []
  const places = placesOf(after)
  const pairs: Pair[] = []
  for (const [item, at] of placesOf(before)) {
    const index = places.get(item)
    if (at >= 0 && index !== undefined && index >= 0) pairs.push({ before: at, after: index })
  }
  return longestInOrder(pairs.toSorted((left, right) => left.before - right.before))
}

function placesOf({ items, start, end }: Part): Map<string, number> {
  const places = new Map<string, number>()
  for (let at = start; at < end; at++) {
    const item = items[at] ?? ''
    places.set(item, places.has(item) ? -1 : at)
  }
  return places
}

function longestInOrder(pairs: readonly Pair[]): Pair[] {
  type Link = { pair: Pair; previous: Link | undefined }
  const tops: Link[] = []
  for (const pair of pairs) {
    const at = bisect(tops.length, (top) => (tops[top]?.pair.after ?? 0) < pair.after)
    tops[at] = { pair, previous: tops[at - 1] }
  }
  const chain: Pair[] = []
  for (let link = tops.at(-1); link !== undefined; link = link.previous) chain.push(link.pair)
  return chain.toReversed()
}

/** Returns the first index below `count` for which `isBefore`, true up to some index, is false; `count` when there is none. */
export function bisect(count: number, isBefore: (index: number) => boolean): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}

function runsIn({ before, after }: Parts): ChangedRun[] {
  const [size, sizeAfter] = [before.end - before.start, after.end - after.start]
  if (size === 0 && sizeAfter === 0) return []
  const start: Pair = { before: before.start, after: after.start }
  if (size === 0 || sizeAfter === 0) return [runOf(start, size, sizeAfter)]
  const [items, itemsAfter] = [before.items.slice(start.before, before.end), after.items.slice(start.after, after.end)]
  const parts = diffArrays(items, itemsAfter, { maxEditLength })
  if (parts === undefined) return [runOf(start, size, sizeAfter)]
  const runs: ChangedRun[] = []
  let removed = 0
  let added = 0
  for (const part of [...parts, endOfDiff]) {
    if (part.removed) removed += part.value.length
    else if (part.added) added += part.value.length
    else {
      if (removed + added > 0) runs.push(runOf(start, removed, added))
      start.before += removed + part.value.length
      start.after += added + part.value.length
      removed = added = 0
    }
  }
  return runs
}

const endOfDiff: { added: boolean; removed: boolean; value: string[] } = { added: false, removed: false, value: [] }

function runOf(start: Pair, removed: number, added: number): ChangedRun {
  return {
    before: { start: start.before, end: start.before + removed },
    after: { start: start.after, end: start.after + added },
  }
}

export function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/)
}

/** The one stretch in which two texts differ, in UTF-16 units: `[start, beforeEnd)` of the one, `[start, afterEnd)` of the other. */
export type ChangedSpan = { start: number; beforeEnd: number; afterEnd: number }

export function changedSpan(before: string, after: string): ChangedSpan {
  const least = Math.min(before.length, after.length)
  let start = 0
  while (start < least && before.charCodeAt(start) === after.charCodeAt(start)) start++
  let [beforeEnd, afterEnd] = [before.length, after.length]
  while (beforeEnd > start && afterEnd > start && before.charCodeAt(beforeEnd - 1) === after.charCodeAt(afterEnd - 1)) {
    beforeEnd--
    afterEnd--
  }
  return { start, beforeEnd, afterEnd }
}

export function rowsIn(text: string): number {
  let rows = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) rows++
  return rows
}
