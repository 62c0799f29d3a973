import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { CodeFinding } from '#domain/code-finding.ts'
import { AppError } from '#domain/error.ts'
import type { Operation } from '#domain/operation.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import type { Run } from '#domain/run.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { FindingPage, FindingView, SeverityShape } from '#schemas/finding-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { Cursor, pageLimit, viewOf } from '../../http/schema-parts.ts'
import { findRun } from './run-view.ts'
import { ReportedArtifact } from '#domain/reports.ts'
import { PathPattern } from '#schemas/decision-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

const FindingFilter = z.strictObject({
  agent: z.string().min(1).max(64).optional(),
  path: PathPattern.optional().openapi({
    description: 'a path, a folder or a pattern: the file that it is about',
  }),
  severity: SeverityShape.optional(),
})
export type FindingFilter = z.infer<typeof FindingFilter>

const findingsProse = `
Each is grounded: its file and lines exist. Only what the attempt that ended an operation has reported counts, in the order of the plan; what
was found by work that is done once more is not shown. \`limit\` counts operations that reported something, each with at most 20
findings; with a filter a page may be short or empty although others follow: continue until \`next\` is null.`

const artifactProse = `
The text as it was made, without secrets, always as plain text to be saved. \`GET /v1/runs/{run_id}/timeline?category=artifact\` lists those of the run, with
name, media type and hash.`

export const findingEndpoints = {
  artifact: endpoint('runs:read', ['RUN_004', 'STORE_002'], {
    method: 'get',
    path: '/v1/runs/{run_id}/artifacts/{sha256}',
    operationId: 'getArtifact',
    summary: 'A text that an agent has made',
    description: artifactProse.trim(),
    request: { params: RunParams.extend({ sha256: ReportedArtifact.shape.sha256 }) },
    responses: { 200: { description: 'the text', content: { 'text/plain': { schema: z.string() } } } },
  }),
  findings: endpoint('runs:read', ['STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/findings',
    operationId: 'listFindings',
    summary: 'What its agents have found, with path, lines and confidence',
    description: findingsProse.trim(),
    request: {
      params: RunParams,
      query: z.strictObject({
        ...FindingFilter.shape,
        cursor: Cursor,
        limit: pageLimit(100, 50),
      }),
    },
    responses: { 200: jsonAnswer('a page', FindingPage) },
  }),
} as const

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
