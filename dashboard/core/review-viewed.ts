/** Keeps strings, as `localStorage` does; it may refuse to. */
export type TextStore = { getItem(key: string): string | null; setItem(key: string, value: string): void }

const storeKey = 'remora.viewed'
/** The oldest are forgotten. */
const mostKept = 20_000

/** Reads the ids of the change sets that were viewed in this browser, the oldest first. They are made of what is changed: a change that is made again just so has the same. */
export function readViewed(store: TextStore): ReadonlySet<string> {
  return new Set((store.getItem(storeKey) ?? '').split(' ').filter((id) => /^c[0-9a-f]{16}$/.test(id)))
}

/** Returns the ids with this one or without it, and keeps them; where the browser refuses, for this page only. */
export function withViewed(
  viewed: ReadonlySet<string>,
  { id, isViewed }: { id: string; isViewed: boolean },
  store: TextStore,
) {
  const next = new Set(viewed)
  next.delete(id)
  if (isViewed) next.add(id)
  const kept = [...next].slice(-mostKept)
  try {
    store.setItem(storeKey, kept.join(' '))
  } catch {} // the store is full or forbidden
  return new Set(kept)
}
