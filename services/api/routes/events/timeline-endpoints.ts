import { z } from '@hono/zod-openapi'
import { RunParams } from '#schemas/run-schema.ts'
import { Timeline } from '#schemas/timeline-schema.ts'
import { categories } from './event-endpoints.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'
import { listed, pageLimit, wholeNumber } from '../../http/schema-parts.ts'

const timelineProse = `
Its events as sentences, page by page, with what they come to. \`category\` limits the entries alone. \`required_milestones\` are names of events,
comma-separated, that the run must have had, judged by the whole of its events and by exact names: RUN_003 names those that it has not.
\`limit\` counts entries; with \`category\` a page may be short although others follow: continue until \`next_after\` stays the same.`

export const timelineEndpoints = {
  timeline: endpoint('runs:read', ['RUN_001', 'RUN_003', 'RUN_005', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/timeline',
    operationId: 'getTimeline',
    summary: 'What has happened in it, in sentences, and what that comes to',
    description: timelineProse.trim(),
    request: {
      params: RunParams,
      query: z.strictObject({
        category: categories,
        required_milestones: listed
          .optional()
          .openapi({ type: 'string', description: 'names of events, comma-separated' }),
        after: wholeNumber(0, 999_999_999_999)
          .default(0)
          .openapi({ default: 0, description: 'number of the last event you have' }),
        limit: pageLimit(1000, 200),
      }),
    },
    responses: { 200: jsonAnswer('the timeline', Timeline) },
  }),
} as const
