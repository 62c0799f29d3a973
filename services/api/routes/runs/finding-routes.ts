import type { OpenAPIHono } from '@hono/zod-openapi'
import type { CodeFinding } from '#domain/code-finding.ts'
import { AppError } from '#domain/error.ts'
import type { Operation } from '#domain/operation.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import type { Run } from '#domain/run.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { FindingView } from '#schemas/finding-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { viewOf } from '../../http/schema-parts.ts'
import { findingEndpoints, type FindingFilter } from './finding-endpoints.ts'
import { findRun } from './run-view.ts'

export type FindingRouteDeps = {
  ledger: Pick<Ledger, 'getRun' | 'listReported'>
  records: {
    /** Reads what an attempt record says that its tools have reported. */
    readFindings(projectId: string, recordHash: string): Promise<readonly CodeFinding[]>
    /** Is undefined where no agent of the run has made a text of this hash. */
    readArtifact(run: Pick<Run, 'projectId' | 'runId'>, hash: string): Promise<string | undefined>
  }
  redactor: Redactor
}

export function addFindingRoute(routes: OpenAPIHono<ApiEnv>, deps: FindingRouteDeps): void {
  routes.openapi(findingEndpoints.findings, async (c) => {
    const { cursor, limit, ...filter } = c.req.valid('query')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    const page = { ...(cursor !== undefined && { cursor }), limit }
    const { operations, next } = await deps.ledger.listReported(run.runId, page)
    return c.json({ findings: await findingsOf(run.projectId, operations, { filter, deps }), next }, 200)
  })
  routes.openapi(findingEndpoints.artifact, async (c) => {
    const { run_id: runId, sha256 } = c.req.valid('param')
    const run = await findRun(runId, c.get('caller').projectId, deps.ledger)
    const made = await deps.records.readArtifact(run, sha256)
    if (made === undefined) throw new AppError('RUN_004', `Run "${runId}" has no artifact "${sha256}".`)
    return c.text(deps.redactor.text(made), 200, {
      'content-disposition': `attachment; filename="${sha256.slice(0, 12)}.txt"`,
    })
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
    const findings = recordHash === undefined ? [] : await deps.records.readFindings(projectId, recordHash)
    return findings.filter(isWanted).map((finding) => findingView(finding, operation))
  })
  return lists.flat()
}

function findingView(finding: CodeFinding, { bundle, operationId, node }: Operation): FindingView {
  const { nodeId: node_id, qualifiedName: qualified_name } = node
  return viewOf(FindingView, finding, { agent: bundle, operation_id: operationId, node_id, qualified_name })
}
