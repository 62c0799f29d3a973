import { z } from 'zod'

export const Day = z.iso.date().meta({ description: 'in UTC, as in `2026-11-27`' })

/** Says how the rows are grouped. */
export const UsageGroup = z.enum(['day', 'agent', 'project']).meta({ id: 'UsageGroup' })

const UsageFigures = z.strictObject({
  operations: z.int().meta({ description: 'that ended in this time' }),
  turns: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  duration_ms: z.int().meta({ description: 'of all their attempts, without the time in which they waited for people' }),
  proposed: z.int().meta({ description: 'change sets that these operations made' }),
  accepted: z.int().meta({ description: 'change sets that are accepted, of the runs that began in this time' }),
})
export const UsageRow = UsageFigures.extend({
  of: z.string().meta({ description: 'the day, agent or project' }),
}).meta({ id: 'UsageRow' })
export type UsageRow = z.infer<typeof UsageRow>

export const UsageView = z
  .strictObject({
    since: Day,
    until: Day,
    by: UsageGroup,
    rows: z.array(UsageRow).meta({ description: 'days in their order, else what used most tokens first' }),
    total: UsageFigures.meta({ id: 'UsageFigures' }),
  })
  .meta({ id: 'Usage' })
export type UsageView = z.infer<typeof UsageView>
