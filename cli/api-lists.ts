import { pages } from '#platform/pages.ts'
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
