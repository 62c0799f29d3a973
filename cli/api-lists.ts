import type { ApiClient } from './api-client.ts'

// Whole lists of the API. Each item is asked for when it is needed, a page at a time; `Array.fromAsync` takes them all.

/** Of a run, in the order of its plan. */
export function allOperations({ listOperations }: Pick<ApiClient, 'listOperations'>, runId: string) {
  return pages('operations', (from) => listOperations(runId, { ...from, limit: 500 }))
}

/** Of a run, by number; only those of a status, if one is given. */
export function allQuestions(
  { listQuestions }: Pick<ApiClient, 'listQuestions'>,
  runId: string,
  filter: { status?: string } = {},
) {
  return pages('questions', (from) => listQuestions(runId, { ...filter, ...from, limit: 500 }))
}

/** Of a run, sorted by path; only those of the files that the glob `path` names, if one is given. */
export function allNodes({ listNodes }: Pick<ApiClient, 'listNodes'>, runId: string, filter: { path?: string } = {}) {
  return pages('nodes', (from) => listNodes(runId, { ...filter, ...from, limit: 1000 }))
}

/** Of a node. */
export function allEdges({ listEdges }: Pick<ApiClient, 'listEdges'>, runId: string, nodeId: string) {
  return pages('edges', (from) => listEdges(runId, nodeId, { ...from, limit: 1000 }))
}

/** Of an operation. */
export function allChanges({ listChanges }: Pick<ApiClient, 'listChanges'>, runId: string, operationId: string) {
  return pages('changes', (from) => listChanges(runId, { operation_id: operationId, ...from, limit: 100 }))
}

/** Of the project, newest first. */
export function allRuns({ listRuns }: Pick<ApiClient, 'listRuns'>) {
  return pages('runs', ({ cursor }) => listRuns({ ...(cursor !== undefined && { before: cursor }), limit: 100 }))
}

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
