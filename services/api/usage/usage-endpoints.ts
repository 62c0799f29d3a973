import { z } from '@hono/zod-openapi'
import { ProjectId } from '#domain/ids.ts'
import { endpoint, jsonAnswer } from '../http/endpoint.ts'

const Day = z.iso.date().openapi({ description: 'in UTC, as in `2026-11-27`' })

/** How the rows are grouped. */
const UsageGroup = z.enum(['day', 'agent', 'project']).openapi('UsageGroup')

const UsageFigures = z.strictObject({
  operations: z.int().openapi({ description: 'that ended in this time' }),
  turns: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  duration_ms: z
    .int()
    .openapi({ description: 'of all their attempts, without the time in which they waited for people' }),
})
export const UsageRow = UsageFigures.extend({
  of: z.string().openapi({ description: 'the day, agent or project' }),
}).openapi('UsageRow')
export type UsageRow = z.infer<typeof UsageRow>

export const UsageView = z
  .strictObject({
    since: Day,
    until: Day,
    by: UsageGroup,
    rows: z.array(UsageRow).openapi({ description: 'days in their order, else what used most tokens first' }),
    total: UsageFigures.openapi('UsageFigures'),
  })
  .openapi('Usage')
export type UsageView = z.infer<typeof UsageView>

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
