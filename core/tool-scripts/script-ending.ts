import { z } from 'zod'

/**
 * How a script ended. `limit` names the limit that was hit; `line` is the author's own line; `diverged` means that it did
 * not make the calls of the journal it was run over.
 */
export const ScriptEnding = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('returned'), value: z.unknown(), printed: z.string() }),
  z.object({
    kind: z.literal('raised'),
    type: z.string(),
    message: z.string(),
    line: z.int().optional(),
    traceback: z.string(),
    printed: z.string(),
  }),
  z.object({
    kind: z.literal('stopped'),
    code: z.enum(['TOOL_003', 'TOOL_006']),
    limit: z.enum([
      'duration',
      'wall_clock',
      'memory',
      'recursion',
      'value_size',
      'printed_text',
      'value_depth',
      'external_calls',
      'journal_size',
    ]),
    message: z.string(),
  }),
  z.object({ kind: z.literal('crashed'), code: z.literal('TOOL_004'), message: z.string() }),
  z.object({ kind: z.literal('diverged'), code: z.literal('ASK_004'), message: z.string() }),
])
export type ScriptEnding = z.infer<typeof ScriptEnding>
