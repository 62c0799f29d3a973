import { z } from 'zod'
import { after, systemClock } from '#platform/clock.ts'
import { type Log, type LogOptions, openLog } from '#platform/log.ts'

const Entry = z.looseObject({ level: z.string(), message: z.string() })
export type LogEntry = z.infer<typeof Entry>

export type RecordedLog = {
  log: Log
  /** The lines as they were written. */
  lines: string[]
  /** The same, parsed. */
  entries: LogEntry[]
  messages(): string[]
}

/** A real log that keeps what it writes; of `warn` and worse unless `level` says otherwise. */
export function recordedLog(options: Partial<Omit<LogOptions, 'write'>> = {}): RecordedLog {
  const lines: string[] = []
  const entries: LogEntry[] = []
  const write = (line: string) => {
    lines.push(line)
    entries.push(Entry.parse(JSON.parse(line)))
  }
  const log = openLog({ service: 'test', level: 'warn', ...options, write })
  return { log, lines, entries, messages: () => entries.map(({ message }) => message) }
}

/** By this clock an outage ends soon after it is over, but not because nothing happens. */
export const soonClock = {
  ...systemClock,
  after: (ms: number, work: () => void) => after(ms > 60_000 ? ms : 100, work),
}
