/** What a read of one page is given: nothing for the first page, then the cursor that the page before ended with. */
export type PageStart = { cursor?: string }

/**
 * The items of a list that is read page by page, in order. Each page has its items under `key` and, in `next`, the cursor of
 * the page after it, or null. A page is read when the caller has taken all items before it; breaking off the loop, or
 * an abort that `read` throws, reads no more.
 */
export async function* pages<Key extends string, Item>(
  key: Key,
  read: (from: PageStart) => Promise<Readonly<Record<Key, readonly Item[]>> & { next: string | null }>,
): AsyncGenerator<Item, void, undefined> {
  for (let from: PageStart = {}; ;) {
    const page = await read(from)
    yield* page[key]
    if (page.next === null) return
    from = { cursor: page.next }
  }
}
