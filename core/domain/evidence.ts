import { z } from 'zod'

/** What holds for any change that is no harm, whatever it is for. */
export const changeChecks = [
  'parses',
  'lint_before_after',
  'comments_kept',
  'names_kept',
  'imports_kept',
  'line_length',
  'bodies_kept',
  'operands_kept',
] as const

/** What a bundle may ask for. */
export const evidenceChecks = [...changeChecks, 'docstring_only', 'only_node_changed'] as const
export type EvidenceCheck = (typeof evidenceChecks)[number]

/**
 * One thing that was proved, or disproved, about one file of a change set, by which tool, with the figures.
 * `not_checked` proves nothing: the check in `of` was asked for, and there are no means for it in the file's language.
 */
export const Evidence = z.strictObject({
  check: z.enum([...evidenceChecks, 'not_checked']),
  of: z.enum(evidenceChecks).optional(),
  path: z.string(),
  ok: z.boolean(),
  tool: z.string(),
  before: z.number().optional(),
  after: z.number().optional(),
  detail: z.string().optional(),
})
export type Evidence = z.infer<typeof Evidence>
