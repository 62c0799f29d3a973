import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { readSettingsFile } from './read-settings-file.ts'
import { nextWindow, ScheduleText, TimeZone } from './schedule.ts'

const isInWindow = (...asked: Parameters<typeof nextWindow>) => nextWindow(...asked) === undefined

// 30 June 2017 is a Friday, the day that the examples of Renovate are tried on.
const friday = (time: string) => `2017-06-30T${time}:00Z`

const start = [
  'every',
  'every weekday',
  'every weekend',
  'on monday',
  'on fridays',
  'on the last day',
  'before 5am',
  'after 10pm',
  'of may',
]
const joints = ['also', 'except', 'and', 'starting', 'between', 'through', ',', '-', 'at', 'in', 'on the', 'of', 'the']
const values = ['0', '1', '2nd', '31', '9999', '2026', '08:00', '10 pm', '12am', 'monday', 'january', 'first', 'last']
const periods = [
  'hours',
  'days',
  'day of the week',
  'day instance',
  'weeks of the year',
  'weeks of the month',
  'months',
  'years',
]
const moments = Array.from({ length: 5 }, (_, at) => new Date(Date.UTC(2026, 0, 1) + at * 1_747 * 3_600_000))
const words = [...start, ...joints, ...values, ...periods]

describe('a schedule in the words of Renovate', () => {
  it.each([
    ['at any time', friday('12:00'), true],
    ['before 5:00am', friday('04:59'), true],
    ['before 5am', friday('04:59'), true],
    ['before 5am', friday('05:00'), false],
    ['after 10pm', friday('22:00'), true],
    ['after 10pm', friday('21:59'), false],
    ['after 5:00 pm', friday('17:30'), true],
    ['before 8:00am', friday('00:00'), true],
    ['after 12pm', friday('12:00'), true],
    ['every weekend', friday('10:50'), false],
    ['every weekend', '2017-07-01T10:50:00Z', true],
    ['every weekday', friday('10:50'), true],
    ['on every weekday', friday('10:50'), true],
    ['every friday', friday('10:50'), true],
    ['on fridays', friday('10:50'), true],
    ['on friday and saturday', friday('10:50'), true],
    ['on monday and tuesday', friday('10:50'), false],
    ['after 9pm on friday and saturday', friday('21:30'), true],
    ['before 11:00am every weekday', friday('10:50'), true],
    ['after 11pm every day', friday('23:30'), true],
    ['before 5am on the first day of the month', '2017-07-01T04:00:00Z', true],
    ['before 5am on the first day of the month', friday('04:00'), false],
    ['on the last day of the month', friday('04:00'), true],
    ['every month', '2017-07-01T04:00:00Z', true],
    ['monthly', '2017-07-01T06:00:00Z', false],
    ['every 3 months on the first day of the month', '2017-07-01T06:00:00Z', true],
    ['every 6 months', '2017-02-01T06:00:00Z', false],
    ['of January', '2017-01-02T06:00:00Z', true],
    ['every 2 weeks of the year before 08:00 on Monday', '2017-01-02T06:00:00Z', true],
    ['every 2 weeks of the year before 08:00 on Monday', '2017-01-09T06:00:00Z', false],
    ['on Monday on the first day instance', '2017-02-06T06:00:00Z', true],
    ['on Monday on the first day instance', '2017-02-13T06:00:00Z', false],
    ['* 0-4 * * 1', friday('03:00'), false],
    ['* 0-4 * * 5', friday('03:00'), true],
    ['* 0-4,22-23 * * 1-5', friday('22:59'), true],
    ['* * 30 * *', friday('10:50'), true],
    ['* * 30 * 1', friday('10:50'), false],
    ['* * 1 */3 *', '2017-07-01T10:50:00Z', true],
  ])('%s: at %s it is %s', (text, at, isOpen) => {
    expect(ScheduleText.safeParse(text).error).toBeUndefined()
    expect(isInWindow([text], 'UTC', new Date(at))).toBe(isOpen)
  })

  it('of a night has its evening and its morning, both on the days that it names', () => {
    const nights = ['after 10pm and before 5am every weekday']
    const isOpen = (at: string) => isInWindow(nights, 'UTC', new Date(at))
    expect(isOpen(friday('22:30'))).toBe(true)
    expect(isOpen(friday('04:30'))).toBe(true)
    expect(isOpen(friday('12:00'))).toBe(false)
    expect(isOpen('2017-07-01T04:30:00Z')).toBe(false)
    expect(isInWindow(['after 9am and before 5pm'], 'UTC', new Date(friday('18:00')))).toBe(false)
  })

  it('is open in any of its windows, and always without one', () => {
    const at = new Date(friday('12:00'))
    expect(isInWindow([], 'UTC', at)).toBe(true)
    expect(isInWindow(['every weekend', 'before 5am'], 'UTC', at)).toBe(false)
    expect(isInWindow(['every weekend', '* 12 * * *'], 'UTC', at)).toBe(true)
  })

  it.each([
    ['after 4pm', 'Asia/Singapore', '2017-06-30T15:59:00+08:00', false],
    ['after 4pm', 'Asia/Singapore', '2017-06-30T16:01:00+08:00', true],
    ['before 4am on Monday', 'Asia/Tokyo', '2017-06-26T03:59:00+09:00', true],
    ['before 4am on Monday', 'Asia/Tokyo', '2017-06-26T04:01:00+09:00', false],
    ['* 0-3 * * 1', 'Asia/Tokyo', '2017-06-26T03:59:00+09:00', true],
    ['every weekend', 'Pacific/Auckland', '2026-11-27T12:00:00Z', true],
    ['every weekend', 'America/Los_Angeles', '2026-11-28T07:00:00Z', false],
    ['on the first day of the month', 'Asia/Kolkata', '2026-11-30T18:31:00Z', true],
    // On 29 March 2026 clocks in Berlin go from 2:00 to 3:00, on 25 October from 3:00 back to 2:00.
    ['before 3am', 'Europe/Berlin', '2026-03-29T00:59:00Z', true],
    ['before 3am', 'Europe/Berlin', '2026-03-29T01:00:00Z', false],
    ['before 3am', 'Europe/Berlin', '2026-10-25T00:30:00Z', true],
    ['before 3am', 'Europe/Berlin', '2026-10-25T01:30:00Z', true],
    ['before 3am', 'Europe/Berlin', '2026-10-25T02:00:00Z', false],
    ['* 0-2 * * *', 'Europe/Berlin', '2026-03-29T01:00:00Z', false],
    ['* 0-2 * * *', 'Europe/Berlin', '2026-10-25T01:30:00Z', true],
    ['* 9-16 * * *', 'America/New_York', '2026-07-01T13:00:00Z', true],
    ['after 9am and before 5pm', 'America/New_York', '2026-07-01T13:00:00Z', true],
    ['after 9am and before 5pm', 'America/New_York', '2026-12-01T13:59:00Z', false],
  ])('%s in %s: at %s it is %s', (text, timezone, at, isOpen) => {
    expect(TimeZone.safeParse(timezone).success).toBe(true)
    expect(isInWindow([text], timezone, new Date(at))).toBe(isOpen)
  })

  it.each([
    [['after 10pm'], 'UTC', friday('12:00'), '2017-06-30 22:00'],
    [['after 10pm and before 5am every weekday'], 'UTC', friday('12:00'), '2017-06-30 22:00'],
    [['after 10pm and before 5am every weekday'], 'UTC', '2017-07-01T12:00:00Z', '2017-07-03 00:00'],
    [['on the first day of the month', 'every weekend'], 'UTC', '2017-07-04T12:00:00Z', '2017-07-08 00:00'],
    [['* 0-4 * * 1'], 'UTC', friday('12:34'), '2017-07-03 00:00'],
    [['* 0-4 * * 1'], 'Asia/Tokyo', friday('12:34'), '2017-07-03 00:00'],
    [['after 4pm'], 'Asia/Singapore', '2017-06-30T15:59:30+08:00', '2017-06-30 16:00'],
    [['monthly'], 'America/New_York', '2026-11-30T12:00:00Z', '2026-12-01 00:00'],
    [['every weekend in 2017'], 'UTC', '2026-11-30T12:00:00Z', 'a time that does not come within a year'],
    [['every weekend', 'after 10am'], 'UTC', friday('12:00'), undefined],
    [[], 'UTC', friday('12:00'), undefined],
  ])('%j in %s: after %s it opens at %s', (texts, timezone, at, opens) => {
    expect(nextWindow(texts, timezone, new Date(at))?.replace(` ${timezone}`, '')).toBe(opens)
  })

  it.each([
    'foo',
    'every night',
    'at 5:00pm',
    'every 15 mins every weekday',
    'every 2 hours',
    'before 25:00',
    '30 2 * * *',
    '1 * * * *',
    '* 25 * * *',
    '* * 31 2 *',
    '* * * *',
    '* * * * * *',
    '@daily',
    '',
    ' ',
    'on the 1 through 99999999 day of the month',
    'after 10pm also',
    'every weekday also',
    'on monday also',
    'every weekend except every weekend',
    'every starting monday',
    'before 12am',
    'after 5pm and before 5pm',
    'on the 31 day of the month of february',
    'every weekend in 2001',
    `every weekend ${' and sunday'.repeat(20)}`,
  ])('that is not understood is refused with an example: %j', (text) => {
    const { error } = ScheduleText.safeParse(text)
    expect(error).toBeDefined()
  })

  it('of any words is either refused, or can be judged at any time', () => {
    const others = fc.array(fc.constantFrom(...words), { maxLength: 5 })
    const texts = fc.tuple(fc.constantFrom(...start), others)
    const property = fc.property(texts, ([first, more]) => {
      const text = [first, ...more].join(' ')
      const isFine = ScheduleText.safeParse(text).success
      for (const at of isFine ? moments : []) nextWindow([text], 'Europe/Berlin', at)
    })
    fc.assert(property, { numRuns: draws(1_000) })
  })

  it('that is wrong in a file is named with its line', () => {
    const read = () => readSettingsFile('remora.yaml', 'github:\n  schedule:\n    - every weekend\n    - every night\n')
    expect(read).toThrow(expect.objectContaining({ code: 'CONFIG_003' }))
    expect(read).toThrow(/remora\.yaml:4: .*"every weekend"/)
  })

  it.each(['Mars/Olympus', '', 'Europe/Berlin; DROP'])('%j is no time zone', (name) => {
    expect(TimeZone.safeParse(name).success).toBe(false)
  })
})
