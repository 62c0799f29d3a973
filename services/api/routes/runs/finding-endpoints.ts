import { z } from '@hono/zod-openapi'
import { ReportedArtifact } from '#domain/reports.ts'
import { PathPattern } from '#schemas/decision-schema.ts'
import { FindingPage, SeverityShape } from '#schemas/finding-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'
import { Cursor, pageLimit } from '../../http/schema-parts.ts'

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
  artifact: endpoint('runs:read', ['RUN_001', 'RUN_004', 'RUN_005', 'STORE_002'], {
    method: 'get',
    path: '/v1/runs/{run_id}/artifacts/{sha256}',
    operationId: 'getArtifact',
    summary: 'A text that an agent has made',
    description: artifactProse.trim(),
    request: { params: RunParams.extend({ sha256: ReportedArtifact.shape.sha256 }) },
    responses: { 200: { description: 'the text', content: { 'text/plain': { schema: z.string() } } } },
  }),
  findings: endpoint('runs:read', ['RUN_001', 'RUN_005', 'STORE_002', 'STORE_003'], {
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
