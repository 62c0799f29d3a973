/** Keeps strings, as `localStorage` does; it may refuse to. */
export type TextStore = { getItem(key: string): string | null; setItem(key: string, value: string): void }

const storeKey = 'remora.viewed'
/** The oldest marks are forgotten. */
const mostMarks = 20_000

/** Names a diff by its content: a change that is made again just so is the same, and one of which a character differs is another. */
export function markOf(diff: string): string {
  // Two halves of 32 bits by the mixing of cyrb53 (public domain). `crypto.subtle` is missing on pages without TLS.
  let [high, low] = [0xdeadbeef, 0x41c6ce57]
  for (let at = 0; at < diff.length; at += 1) {
    const code = diff.charCodeAt(at)
    high = Math.imul(high ^ code, 2654435761)
    low = Math.imul(low ^ code, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}

/** Reads the marks of what was viewed in this browser, the oldest first. */
export function readViewed(store: TextStore): ReadonlySet<string> {
  return new Set((store.getItem(storeKey) ?? '').split(' ').filter((mark) => /^[0-9a-f]{16}$/.test(mark)))
}

/** Returns the marks with this one set or taken away, and keeps them; where the browser refuses, for this page only. */
export function withViewed(
  marks: ReadonlySet<string>,
  { mark, isViewed }: { mark: string; isViewed: boolean },
  store: TextStore,
) {
  const next = new Set(marks)
  next.delete(mark)
  if (isViewed) next.add(mark)
  const kept = [...next].slice(-mostMarks)
  try {
    store.setItem(storeKey, kept.join(' '))
  } catch {} // the store is full or forbidden
  return new Set(kept)
}
