import { z } from 'zod'
import { parseJson } from '#domain/json.ts'

const ErrorEntry = z.object({
  level: z.literal('error'),
  message: z.string(),
  error: z.object({ message: z.string() }).optional().catch(undefined),
})

const longest = 300
/** The line of a Node stack trace that says what was thrown: `AppError: …`, `TypeError [ERR_X]: …`. */
const thrown = /^(?:\w*Error|\w*Exception)(?: \[\w+\])?: /

/**
 * The one line of what a process wrote to stderr that says best why it ended: what was thrown, else its last JSON log
 * line of level error, else its first line that is no log. Empty when it said nothing.
 */
export function lastWords(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  const words = lines.findLast((line) => thrown.test(line)) ?? loggedError(lines) ?? lines.find((line) => !isLog(line))
  return (words ?? '').trim().slice(0, longest)
}

function loggedError(lines: readonly string[]): string | undefined {
  for (const line of lines.toReversed()) {
    if (!isLog(line)) continue
    const entry = ErrorEntry.safeParse(parseJson(line))
    if (!entry.success) continue
    const { message, error } = entry.data
    return error === undefined ? message : `${message}: ${error.message}`
  }
  return undefined
}

function isLog(line: string): boolean {
  return line.startsWith('{"time":')
}
