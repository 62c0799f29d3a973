import { z } from 'zod'

export const evidenceChecks = ['parses', 'lint_before_after', 'docstring_only', 'only_node_changed'] as const

/** One thing that was proved, or disproved, about one file of a change set, by which tool, with the figures. */
export const Evidence = z.strictObject({
  check: z.enum(evidenceChecks),
  path: z.string(),
  ok: z.boolean(),
  tool: z.string(),
  before: z.number().optional(),
  after: z.number().optional(),
  detail: z.string().optional(),
})
export type Evidence = z.infer<typeof Evidence>
