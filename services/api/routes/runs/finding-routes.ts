import type { OpenAPIHono } from '@hono/zod-openapi'
import { chainOf } from '#change-sets/run-chain.ts'
import type { CodeFinding } from '#domain/code-finding.ts'
import { repeatedOperationId } from '#domain/ids.ts'
import { type Operation, originalId } from '#domain/operation.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { mapBounded } from '#store/objects/map-bounded.ts'
import { FindingView } from '#schemas/finding-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { viewOf } from '../../http/schema-parts.ts'
import { findingEndpoints, type FindingFilter } from './finding-endpoints.ts'
import { findRun } from './run-view.ts'

export type FindingRouteDeps = {
  ledger: Pick<Ledger, 'endedOperations' | 'getRun' | 'listReported'>
  records: {
    /** Reads what an attempt record says that its tools have reported. */
    readFindings(projectId: string, recordHash: string): Promise<readonly CodeFinding[]>
  }
}

/** Lists what the agents of a run, and of those that it retries, have found. */
export function addFindingRoute(routes: OpenAPIHono<ApiEnv>, deps: FindingRouteDeps): void {
  routes.openapi(findingEndpoints.findings, async (c) => {
    const { cursor = '0-0', limit, ...filter } = c.req.valid('query')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    const chain = await chainOf(run, deps.ledger)
    const [at = 0, position = 0] = cursor.split('-').map(Number)
    const shown = chain[at]
    if (shown === undefined) return c.json({ findings: [], next: null }, 200)
    const { operations, next } = await deps.ledger.listReported(shown.runId, { cursor: String(position), limit })
    const current = await notDoneAgain(operations, { chain, at }, deps.ledger)
    const findings = await findingsOf(run.projectId, current, { filter, deps })
    const nextRun = at + 1 < chain.length ? `${at + 1}-0` : null
    return c.json({ findings, next: next === null ? nextRun : `${at}-${next}` }, 200)
  })
}

const recordReads = 16

async function findingsOf(
  projectId: string,
  operations: readonly Operation[],
  { filter: { agent, path, severity }, deps }: { filter: FindingFilter; deps: FindingRouteDeps },
): Promise<FindingView[]> {
  const isInside = path === undefined ? undefined : pathGlobs([path])
  const isWanted = (finding: CodeFinding) =>
    (severity === undefined || finding.severity === severity) && (isInside === undefined || isInside(finding.path))
  const ofAgent = operations.filter(({ bundle }) => agent === undefined || bundle === agent)
  const lists = await mapBounded(ofAgent, recordReads, async (operation) => {
    const { recordHash } = operation.outcome ?? {}
    const found = recordHash === undefined ? [] : await deps.records.readFindings(projectId, recordHash)
    return found.filter(isWanted).map((finding) => findingView(finding, operation))
  })
  return lists.flat()
}

function findingView(finding: CodeFinding, { bundle, operationId, node, runId }: Operation): FindingView {
  return viewOf(FindingView, finding, {
    agent: bundle,
    operation_id: operationId,
    node_id: node.nodeId,
    qualified_name: node.qualifiedName,
    run_id: runId,
  })
}

/** Returns those whose work neither a later run of the chain nor the operation that repeats them in their own run has done again. */
async function notDoneAgain(
  operations: readonly Operation[],
  { chain, at }: { chain: readonly Run[]; at: number },
  ledger: FindingRouteDeps['ledger'],
): Promise<Operation[]> {
  const roots = [...new Set(operations.map(originalId))]
  const repeats = roots.map(repeatedOperationId)
  const ended = await Promise.all(
    chain.slice(0, at + 1).map(({ runId }, place) => {
      return ledger.endedOperations(runId, place < at ? [...roots, ...repeats] : repeats)
    }),
  )
  // An operation that never started has looked at nothing.
  const done = ended.map((list) => new Set(list.flatMap((one) => (one.begunAt === null ? [] : [one.operationId]))))
  return operations.filter((operation) => {
    const root = originalId(operation)
    const repeat = repeatedOperationId(root)
    const isLater = done.slice(0, at).some((later) => later.has(root) || later.has(repeat))
    return !isLater && (operation.operationId === repeat || !done[at]?.has(repeat))
  })
}
