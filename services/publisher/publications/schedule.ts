import { Cron } from 'croner'
import { AppError } from '#domain/error.ts'

/**
 * Whether pull requests may be opened at this time: in the minutes of one of these cron patterns, or always where there is none. `* 22-23,0-5 * * *`
 * is every night. CONFIG_003 for a pattern or time zone that is none, and for one that names single minutes, which nobody would meet.
 */
export function isInWindow(patterns: readonly string[], timezone: string, at: Date): boolean {
  return patterns.length === 0 || patterns.some((pattern) => windowOf(pattern, timezone).match(at))
}

function windowOf(pattern: string, timezone: string): Cron {
  const [minutes] = pattern.trim().split(/\s+/)
  const wrong = (why: string, cause?: unknown) =>
    new AppError('CONFIG_003', `github.schedule: ${JSON.stringify(pattern)} ${why}`, { cause })
  if (minutes !== '*') throw wrong('must begin with *: it names hours, days and months, not minutes')
  try {
    const cron = new Cron(pattern, { timezone, mode: '5-part' })
    cron.match(new Date())
    return cron
  } catch (error) {
    throw wrong(`is no cron pattern, or ${timezone} no time zone: ${String(error)}`, error)
  }
}
