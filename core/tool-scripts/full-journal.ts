import type { ScriptEnding } from './script-ending.ts'
import type { ScriptLimits } from './script-limits.ts'

/** How a script ends whose journal has so many calls and is so large; undefined within the limits. */
export function fullJournal(
  { calls, size }: { calls: number; size: number },
  { externalCalls, journalBytes }: ScriptLimits,
): ScriptEnding | undefined {
  if (calls > externalCalls) {
    const message = `the script called the host more than ${externalCalls} times`
    return { kind: 'stopped', code: 'TOOL_006', limit: 'external_calls', message }
  }
  if (size <= journalBytes) return undefined
  const message = `what the script asked of the host and was answered is larger than ${journalBytes} bytes together`
  return { kind: 'stopped', code: 'TOOL_006', limit: 'journal_size', message }
}
