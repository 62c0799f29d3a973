import { z } from '@hono/zod-openapi'
import { CodeFinding, FindingSeverity } from '#domain/code-finding.ts'
import { NodeId, OperationId, RunId } from '#domain/ids.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { endpoint, jsonAnswer } from '../http/endpoint.ts'
import { named, pageLimit } from '../http/schema-parts.ts'
import { RunParams } from './run-schema.ts'

const { shape } = CodeFinding

const SeverityShape = named('FindingSeverity', FindingSeverity)

/** What an agent claims about some lines of a file. */
export const FindingView = z
  .strictObject({
    claim: shape.claim,
    path: z.string(),
    line: shape.line.meta({ description: 'from 1, as the file was when the agent read it' }),
    end_line: shape.endLine.meta({ description: 'the last line it is about' }),
    line_text: shape.lineText.meta({
      description: 'the first line without indentation; empty where it is longer than 200 characters',
    }),
    severity: SeverityShape,
    confidence: shape.confidence.meta({ description: '0 to 1, as the agent says it' }),
    rule: shape.rule.meta({ description: "the agent's name for this kind of finding" }),
    agent: z.string(),
    operation_id: OperationId,
    node_id: NodeId.meta({ description: 'of the operation: what it is about may be elsewhere' }),
    qualified_name: z.string().openapi({ description: 'of that node' }),
    run_id: RunId.meta({ description: 'the run that made it: this one, or one that it retries' }),
  })
  .openapi('Finding')
export type FindingView = z.infer<typeof FindingView>

const FindingFilter = z.strictObject({
  agent: z.string().min(1).max(64).optional(),
  path: z
    .string()
    .min(1)
    .max(1024)
    .refine((glob) => faultOfGlobs([glob]) === undefined, 'not a pattern of paths')
    .optional()
    .openapi({ description: 'a path, a folder or a pattern: the file that it is about' }),
  severity: SeverityShape.optional(),
})
export type FindingFilter = z.infer<typeof FindingFilter>

const FindingPage = z
  .strictObject({ findings: z.array(FindingView), next: z.string().nullable() })
  .openapi('FindingPage')

const findingsProse = `
Each is grounded: its file and lines exist. Only what the attempt that ended an operation has reported counts, in the order of the plan, newest
run first; what a retry did again is not shown of the run before. \`limit\` counts operations that reported something, each with at most 20
findings; with a filter a page may be short or empty although others follow: continue until \`next\` is null.`

/** What the agents of a run have found. */
export const findingEndpoints = {
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
        cursor: z
          .string()
          .regex(/^\d{1,3}-\d{1,9}$/, 'not a cursor')
          .optional()
          .openapi({ description: '`next` of the page before' }),
        limit: pageLimit(100, 50),
      }),
    },
    responses: { 200: jsonAnswer('a page', FindingPage) },
  }),
} as const
