import { expect, it } from 'vitest'
import { isInWindow } from './schedule.ts'

const at = (time: string) => new Date(`2026-11-27T${time}:00Z`) // a Friday
const nights = ['* 22-23,0-5 * * *']

it.each([
  ['no window', [], '12:00', true],
  ['at night', nights, '23:30', true],
  ['in the morning', nights, '05:59', true],
  ['by day', nights, '06:00', false],
  ['on another day', ['* * * * 1-4'], '23:30', false],
  ['in one of several', ['* * * * 1-4', '* 12 * * 5'], '12:15', true],
])('%s', (_what, patterns, time, isOpen) => {
  expect(isInWindow(patterns, 'UTC', at(time))).toBe(isOpen)
})

it('counts the hours of a time zone', () => {
  expect(isInWindow(nights, 'America/New_York', at('06:00'))).toBe(true)
  expect(isInWindow(nights, 'Europe/Berlin', at('21:30'))).toBe(true)
})

it.each([
  ['30 2 * * *', 'UTC'],
  ['* 25 * * *', 'UTC'],
  ['every night', 'UTC'],
  ['* 1 * * *', 'Mars/Olympus'],
])('refuses %s in %s', (pattern, timezone) => {
  expect(() => isInWindow([pattern], timezone, at('12:00'))).toThrow(expect.objectContaining({ code: 'CONFIG_003' }))
})
