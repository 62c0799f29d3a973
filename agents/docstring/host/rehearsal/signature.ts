import { z } from 'zod'

const pythonStyles = ['google', 'numpy', 'sphinx', 'plain'] as const
const commentStyles = ['tsdoc', 'jsdoc', 'godoc', 'rustdoc', 'javadoc'] as const
export type CommentStyle = (typeof commentStyles)[number]

export function isCommentStyle(style: Signature['style']): style is CommentStyle {
  return commentStyles.some((known) => known === style)
}

const Parameter = z.object({
  name: z.string(),
  annotation: z.string().nullish(),
  default: z.string().nullish(),
  kind: z.string().nullish(),
})
export type Parameter = z.infer<typeof Parameter>

/** The `result` of `read_docstring`: what is known of a definition without its body. */
export const Signature = z.object({
  name: z.string(),
  kind: z.string(),
  has_docstring: z.boolean(),
  parameters: z.array(Parameter).default([]),
  returns: z.string().nullish(),
  returns_value: z.boolean().default(false),
  yields: z.boolean().default(false),
  raises: z.array(z.string()).default([]),
  decorators: z.array(z.string()).default([]),
  bases: z.array(z.string()).default([]),
  style: z.enum([...pythonStyles, ...commentStyles]).catch('google'),
  type_parameters: z.array(z.string()).default([]),
  types: z.boolean().default(true),
  summary_characters: z.int().default(70),
  line_characters: z.int().default(76),
  indent: z
    .string()
    .regex(/^(?: {1,8}|\t)$/)
    .catch('    '),
  path: z.string().optional(),
})
export type Signature = z.infer<typeof Signature>

export type Entry = { name: string; type: string | undefined; text: string }
export type Section = { title: 'Args' | 'Returns' | 'Yields' | 'Raises'; entries: Entry[] }
