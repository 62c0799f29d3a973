import type { ApiClient } from './api-client.ts'

// Whole lists of the API, read a page at a time as their items are needed; `Array.fromAsync` takes all of them.

type Lister<Call extends keyof ApiClient> = Pick<ApiClient, Call>

export function allOperations({ listOperations }: Lister<'listOperations'>, runId: string) {
  return pages('operations', (from) => listOperations(runId, { ...from, limit: 500 }))
}

export function allQuestions({ listQuestions }: Lister<'listQuestions'>, runId: string, status?: string) {
  return pages('questions', (from) => listQuestions(runId, { status, ...from, limit: 500 }))
}

/** Reads the nodes of a run, sorted by path; only those of the files that the glob `path` names, if one is given. */
export function allNodes({ listNodes }: Lister<'listNodes'>, runId: string, filter: { path?: string } = {}) {
  return pages('nodes', (from) => listNodes(runId, { ...filter, ...from, limit: 1000 }))
}

export function allEdges({ listEdges }: Lister<'listEdges'>, runId: string, nodeId: string) {
  return pages('edges', (from) => listEdges(runId, nodeId, { ...from, limit: 1000 }))
}

export function allChanges(
  { listChanges }: Lister<'listChanges'>,
  runId: string,
  operationId: string,
  about: { context?: number } = {},
) {
  return pages('changes', (from) => listChanges(runId, { operation_id: operationId, ...about, ...from, limit: 100 }))
}

/** Reads the change sets of a run that meet the filter `where`. */
export function changesWhere(
  { listChanges }: Lister<'listChanges'>,
  runId: string,
  where: Readonly<Record<string, string>>,
  { context }: { context?: number } = {},
) {
  const about = { where, ...(context === undefined ? {} : { context }) }
  return pages('changes', (from) => listChanges(runId, { ...about, ...from, limit: 100 }))
}

/** Reads what the agents of a run have found and the filter lets through. */
export function allFindings(
  { listFindings }: Lister<'listFindings'>,
  runId: string,
  filter: Partial<Record<'agent' | 'path' | 'severity', string>>,
) {
  return pages('findings', (from) => listFindings(runId, { ...filter, ...from, limit: 100 }))
}

/** Reads the runs that have not ended. */
export function unendedRuns({ listRuns }: Lister<'listRuns'>) {
  return pages('runs', ({ cursor }) => listRuns({ before: cursor, limit: 100, ended: 'false' }))
}

/** Begins at the first page without a cursor, else at the page after the one that ended with the cursor. */
export type PageStart = { cursor?: string }

/**
 * Yields the items of a list page by page, in order. Each page has its items under `key` and, in `next`, the cursor of
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
