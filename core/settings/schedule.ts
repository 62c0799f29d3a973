import { createRequire } from 'node:module'
import type * as Later from '@breejs/later'
import { Cron } from 'croner'
import { z } from 'zod'

const example = 'such as "after 10pm every weekday", "every weekend" or "* 0-4 * * 1"'
const always = 'at any time'
const notUnderstood = 'is no time that is understood'
const mostCharacters = 100
/** A time that does not come in a little more than a year never does. */
const soonMs = 400 * 86_400_000

/**
 * A window of time as Renovate has them in its `schedule`: a text of @breejs/later ("before 5am on monday"), or a cron pattern of hours, days
 * and months, whose minutes are `*`. Windows are at least an hour wide; nobody would meet a narrower one.
 */
export const ScheduleText = z
  .string()
  .min(1)
  .max(mostCharacters)
  .superRefine((text, { addIssue }) => {
    const fault = faultOf(text)
    if (fault !== undefined) addIssue(`${fault}; write hours, days or months, ${example}`)
  })

export const TimeZone = z
  .string()
  .min(1)
  .max(64)
  .refine(isTimeZone, 'must be the name of a time zone, such as "Europe/Berlin" or "UTC"')

/** In one of the windows, or always where there is none. */
function isInWindow(windows: readonly string[], timezone: string, at: Date): boolean {
  return windows.length === 0 || windows.some((text) => isIn(text.trim(), timezone, at))
}

/** When the next window opens, as people read it: `2026-11-30 22:00 UTC`. Undefined: it is the time for what is scheduled. All are of `ScheduleText`. */
export function nextWindow(windows: readonly string[], timezone: string, at: Date): string | undefined {
  if (isInWindow(windows, timezone, at)) return undefined
  const [first] = windows.flatMap((text) => openingsOf(text.trim(), timezone, at)).toSorted((one, other) => one - other)
  if (first === undefined) return 'a time that does not come within a year'
  return `${new Date(first).toISOString().slice(0, 16).replace('T', ' ')} ${timezone}`
}

/** In ms since the epoch, of local times as `wallTime` has them. */
function openingsOf(text: string, timezone: string, at: Date): number[] {
  if (isCron(text)) {
    const next = cronOf(text, timezone).nextRun(at)
    return next === null ? [] : [wallTime(next, timezone).getTime()]
  }
  const local = wallTime(at, timezone)
  return textsOf(text).flatMap((one) => {
    const next = nextOf(later().parse.text(one), local)
    return next === undefined ? [] : [next.getTime()]
  })
}

function isIn(text: string, timezone: string, at: Date): boolean {
  if (text === always) return true
  if (isCron(text)) return cronOf(text, timezone).match(at)
  const local = wallTime(at, timezone)
  return textsOf(text).some((one) => compiled(later().parse.text(one)).isValid(local))
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

const isCron = (text: string) => !/^[a-z]/i.test(text)

/** Renovate wants a day of the month and one of the week both, where cron wants one of them. */
function cronOf(pattern: string, timezone = 'UTC'): Cron {
  return new Cron(pattern, { timezone, mode: '5-part', domAndDow: true })
}

function faultOf(given: string): string | undefined {
  const text = given.trim()
  if (text === always) return undefined
  if (isCron(text)) return cronFault(text)
  // The parser lists all numbers of a range.
  if (/\d{5}/.test(text)) return 'has a number with more than four digits'
  try {
    return textFault(textsOf(text))
  } catch {
    return notUnderstood // both the parser and what it makes of some texts throw
  }
}

function textFault(texts: readonly string[]): string | undefined {
  const all = texts.map((one) => later().parse.text(one))
  if (all.some(({ error }) => error !== -1)) return notUnderstood
  const schedules = all.flatMap((parsed) => parsed.schedules)
  if (schedules.some(namesMinutes)) return 'names minutes'
  if (schedules.length === 0 || !schedules.every(hasWidth)) return 'names no time of day, day or month'
  const exceptions = all.flatMap((parsed) => parsed.exceptions)
  // Each on its own: whether one is asked depends on what the others answer.
  for (const one of [...schedules, ...exceptions]) compiled({ schedules: [one] }).isValid(new Date())
  return all.some(everHolds) ? undefined : 'is a time that never comes'
}

const compiled = (parsed: Partial<Later.Parsed>) =>
  later().schedule({ schedules: [], exceptions: [], error: -1, ...parsed })

const everHolds = (parsed: Later.Parsed) => nextOf(parsed, new Date()) !== undefined

function nextOf(parsed: Later.Parsed, from: Date): Date | undefined {
  const next = compiled(parsed).next(1, from, new Date(from.getTime() + soonMs))
  return next instanceof Date ? next : undefined
}

function cronFault(pattern: string): string | undefined {
  if (!/^\*\s/.test(pattern)) return 'must have * as its minutes'
  try {
    return cronOf(pattern).nextRun() === null ? 'is a time that never comes' : undefined
  } catch {
    return 'is no cron pattern of five parts'
  }
}

type Constraints = Later.Parsed['schedules'][number]
const namesMinutes = (one: Constraints) => one['m'] !== undefined
const hasWidth = (one: Constraints) => ['M', 'd', 'D', 't_a', 't_b'].some((name) => one[name] !== undefined)

/** What the parser does not take as people write it, and Renovate rewrites: hours without minutes, single days, nights. */
function textsOf(given: string): string[] {
  const text = /^(?:every month|monthly)$/i.test(given) ? 'before 5am on the first day of the month' : given
  const plain = text
    .replaceAll(/(?<= )(\d{1,2}) ?([ap]m)\b/gi, '$1:00$2')
    .replace(/\bon every (?=weekday)/i, 'every ')
    .replace(/ every day$/i, '')
    .replace(/\bevery ((?:mon|tues|wednes|thurs|fri|satur|sun)day)$/i, 'on $1')
    .replace(/days$/i, 'day')
  return splitNight(plain)
}

/** No time is after 10pm and before 5am of the same day: both of them, each on the days that the text names. */
function splitNight(text: string): string[] {
  const [whole, first, second] = /\b((?:after|before) \S+) and ((?:after|before) \S+)/i.exec(text) ?? []
  if (whole === undefined || first === undefined || second === undefined) return [text]
  const [parsed] = later().parse.text(text).schedules
  const [from = 0] = parsed?.['t_a'] ?? []
  const [to = from] = parsed?.['t_b'] ?? []
  return from > to ? [text.replace(whole, first), text.replace(whole, second)] : [text]
}

const numeric = 'numeric'
const timeParts = { hour: numeric, minute: numeric, second: numeric } as const
const dateParts = { year: numeric, month: numeric, day: numeric } as const

/** The local time in a zone, as the UTC time of another date: the parser knows no zones. */
function wallTime(at: Date, timeZone: string): Date {
  const format = new Intl.DateTimeFormat('en', { timeZone, hourCycle: 'h23', ...dateParts, ...timeParts })
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  const time = [part('hour'), part('minute'), part('second')] as const
  return new Date(Date.UTC(part('year'), part('month') - 1, part('day'), ...time))
}

/** Loaded when somebody has such a text: few do. */
function later(): typeof Later {
  return createRequire(import.meta.url)('@breejs/later')
}
