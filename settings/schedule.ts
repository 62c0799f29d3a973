import { Cron } from 'croner'
import { z } from 'zod'

const example = 'such as "* 22-23,0-4 * * 1-5" (at night from Monday to Friday) or "* * * * 0,6" (at weekends)'
const minuteMs = 60_000

/** It is a cron pattern whose minutes are `*`, so a window is at least an hour wide; nobody would meet a narrower one. */
export const ScheduleText = z
  .string()
  .max(100)
  .superRefine((text, { addIssue }) => {
    const fault = faultOf(text)
    if (fault !== undefined) addIssue(`${fault}; write minute (*), hour, day, month and day of the week, ${example}`)
  })

export const TimeZone = z
  .string()
  .min(1)
  .max(64)
  .refine(isTimeZone, 'must be the name of a time zone, such as "Europe/Berlin" or "UTC"')

/** It writes `2026-11-30 22:00 UTC`. Undefined means that a window is open, or that there is none and it is always time. */
export function nextWindow(windows: readonly string[], timezone: string, at: Date): string | undefined {
  const patterns = windows.map((text) => cronOf(text, timezone))
  const minute = new Date(at.getTime() - (at.getTime() % minuteMs)) // a pattern without seconds matches second 0 only
  if (patterns.length === 0 || patterns.some((pattern) => pattern.match(minute))) return undefined
  const opens = patterns.flatMap((pattern) => pattern.nextRun(at)?.getTime() ?? [])
  // Swedes write times as ISO 8601 does.
  const format = new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' })
  return `${format.format(Math.min(...opens))} ${timezone}`
}

/** A day of the month and one of the week must both hold, where cron wants one of them. */
function cronOf(pattern: string, timezone = 'UTC'): Cron {
  return new Cron(pattern, { timezone, mode: '5-part', domAndDow: true })
}

function faultOf(text: string): string | undefined {
  try {
    const isNever = cronOf(text).nextRun() === null
    if (!/^\s*\*\s/.test(text)) return 'must have * as its minutes'
    return isNever ? 'is a time that never comes' : undefined
  } catch {
    return 'is no cron pattern of five parts'
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
