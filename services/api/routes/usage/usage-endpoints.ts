import { z } from '@hono/zod-openapi'
import { ProjectId } from '#domain/ids.ts'
import { Day, UsageGroup, UsageView } from '#schemas/usage-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

const prose = `
Counted when the result of an operation is passed on, which is within a second of its end as a rule; days are kept for 400 days, also
when their runs are deleted. Another project than that of the token, and \`by=project\`, need the token that the service was started with.`

export const usageEndpoints = {
  get: endpoint('runs:read', ['PROJECT_001'], {
    method: 'get',
    path: '/v1/usage',
    operationId: 'getUsage',
    summary: 'Tokens and time by day, agent or project',
    description: prose.trim(),
    request: {
      query: z.strictObject({
        since: Day.optional().openapi({ description: 'the first day; 29 days before `until` without it' }),
        until: Day.optional().openapi({ description: 'the last day; today without it' }),
        by: UsageGroup.default('day'),
        project_id: ProjectId.optional(),
      }),
    },
    responses: { 200: jsonAnswer('the figures', UsageView) },
  }),
} as const
