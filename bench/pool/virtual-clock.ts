import type { Clock } from '#platform/clock.ts'

export type VirtualClock = Clock & {
  /** Advances until `done` returns true (returns true) or nothing more is due (returns false). */
  runUntil(done: () => boolean): Promise<boolean>
}

type Due = { at: number; order: number; work: () => void }

/** Time that advances only when everything that can happen now has happened. What is due together happens in order. */
export function openVirtualClock(): VirtualClock {
  const heap: Due[] = []
  let now = 0
  let order = 0
  const after: Clock['after'] = (ms, work) => {
    const due: Due = { at: now + Math.max(0, ms), order: order++, work }
    push(heap, due)
    return () => {
      due.work = () => {}
    }
  }
  return {
    now: () => now,
    after,
    delay: (ms) => new Promise((resolve) => void after(ms, resolve)),
    async runUntil(done) {
      for (;;) {
        await new Promise(setImmediate) // every promise that can settle has settled
        if (done()) return true
        const next = pop(heap)
        if (next === undefined) return false
        now = next.at
        next.work()
      }
    },
  }
}

function isBefore(one: Due | undefined, other: Due | undefined): boolean {
  if (one === undefined || other === undefined) return one !== undefined
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}

function swap(heap: Due[], one: number, other: number): void {
  const [first, second] = [heap[one], heap[other]]
  if (first === undefined || second === undefined) return
  heap[one] = second
  heap[other] = first
}

function push(heap: Due[], due: Due): void {
  let at = heap.push(due) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!isBefore(heap[at], heap[parent])) return
    swap(heap, at, parent)
    at = parent
  }
}

function pop(heap: Due[]): Due | undefined {
  swap(heap, 0, heap.length - 1)
  const first = heap.pop()
  for (let at = 0; ;) {
    const [left, right] = [2 * at + 1, 2 * at + 2]
    const least = isBefore(heap[right], heap[left]) ? right : left
    if (!isBefore(heap[least], heap[at])) return first
    swap(heap, at, least)
    at = least
  }
}
