import { z } from 'zod'
import type { JournalEntry } from '#domain/external-journal.ts'
import type { AskedQuestion } from '#domain/question.ts'

/** Says how a script ended. `line` is the author's; `diverged`: it did not make the calls of the journal over which it ran. */
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

/** Who gives the answer: a person, or the call itself, which takes long and goes on beside. */
type AwaitedAnswer = { question: AskedQuestion } | { answer: Promise<unknown> }

/** The same with the call as the script's journal is to have it; `entry` rejects where the external would have ended the script's run. */
export type AwaitedEntry = { question: AskedQuestion } | { entry(): Promise<JournalEntry> }

/** A script that stopped to wait. `asked` is the call that has no answer yet. */
export type SuspendedEnding = AwaitedEntry & {
  kind: 'suspended'
  asked: { name: string; args: unknown[] }
}

/** The journal with which a script that waited runs again and continues with the answer. */
export function answeredJournal(
  { journal, asked }: { journal: readonly JournalEntry[]; asked: SuspendedEnding['asked'] },
  answer: unknown,
): JournalEntry[] {
  return [...journal, { ...asked, answer }]
}

/** Is thrown by an external: the script ends, uses no process, and runs again over its journal and the answer. */
export class ScriptSuspended extends Error {
  override readonly name = 'ScriptSuspended'
  readonly awaits: AwaitedAnswer

  constructor(awaits: AwaitedAnswer) {
    super('the script waits for an answer')
    this.awaits = awaits
  }
}
