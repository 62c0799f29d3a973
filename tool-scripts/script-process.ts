import type { Wrapper } from '#platform/run-program.ts'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { JournalEntry } from '#domain/external-journal.ts'
import { type LimitedProcess, type ProcessListeners, startLimitedProcess } from './limited-process.ts'
import { ScriptEnding } from './script-ending.ts'
import type { ScriptLimits } from './script-limits.ts'

/**
 * The messages between the host and a script process: JSON, one a line. Every `start`, `answer` and `raise` gets
 * exactly one `call` or `end` in reply, in the order they were sent; `drop` discards a waiting script. The process
 * itself answers the calls in the journal of a `start`.
 */
export type ToScriptProcess =
  | { t: 'code'; hash: string; path: string; code: string; inputs: string[]; externals: string[] }
  | { t: 'forget'; hash: string }
  | {
      t: 'start'
      id: number
      hash: string
      inputs: Record<string, unknown>
      limits: ScriptLimits
      journal?: readonly JournalEntry[]
    }
  | { t: 'answer'; id: number; value: unknown }
  | { t: 'raise'; id: number; type: string; message: string }
  | { t: 'drop'; id: number }

export const FromScriptProcess = z.discriminatedUnion('t', [
  z.object({ t: z.literal('ready') }),
  z.object({ t: z.literal('call'), id: z.int(), name: z.string(), args: z.array(z.unknown()) }),
  z.object({ t: z.literal('end'), id: z.int(), ending: ScriptEnding, ownMs: z.number(), printedChars: z.int() }),
])
export type FromScriptProcess = z.infer<typeof FromScriptProcess>

const file = fileURLToPath(new URL('script-child.ts', import.meta.url))

export function startScriptProcess(
  listeners: ProcessListeners<FromScriptProcess>,
  wrapper: Wrapper | undefined,
): LimitedProcess {
  return startLimitedProcess({ file, message: FromScriptProcess, wrapper }, listeners)
}
