import { describe, expect, it } from 'vitest'
import { readSettingsFile } from './read-settings-file.ts'
import { nextWindow, ScheduleText, TimeZone } from './schedule.ts'

const isInWindow = (...asked: Parameters<typeof nextWindow>) => nextWindow(...asked) === undefined
// 30 June 2017 is a Friday.
const friday = (time: string) => `2017-06-30T${time}Z`

describe('a schedule of cron patterns', () => {
  it.each([
    ['* 0-4 * * *', friday('04:59:59'), true],
    ['* 0-4 * * *', friday('05:00'), false],
    ['* 0-4 * * 1', friday('03:00'), false],
    [' *  0-4 * * fri ', friday('03:00'), true],
    ['* 22-23,0-4 * * 1-5', '2017-07-01T04:30:00Z', false],
    ['* * * * 0,6', '2017-07-01T10:50:00Z', true],
    ['* * 30 * *', friday('10:50'), true],
    ['* * L * *', friday('04:00'), true],
  ])('%s: at %s it is %s', (text, at, isOpen) => {
    expect(ScheduleText.safeParse(text).error).toBeUndefined()
    expect(isInWindow([text], 'UTC', new Date(at))).toBe(isOpen)
  })

  it('is open in any of its windows, and always without one', () => {
    const at = new Date(friday('12:00'))
    expect(isInWindow([], 'UTC', at)).toBe(true)
    expect(isInWindow(['* * * * 0,6', '* 0-4 * * *'], 'UTC', at)).toBe(false)
    expect(isInWindow(['* * * * 0,6', '* 12 * * *'], 'UTC', at)).toBe(true)
  })

  it.each([
    ['* 0-3 * * 1', 'Asia/Tokyo', '2017-06-26T03:59:00+09:00', true],
    ['* 0-3 * * 1', 'Asia/Tokyo', '2017-06-26T04:01:00+09:00', false],
    ['* * * * 0,6', 'America/Los_Angeles', '2026-11-28T07:00:00Z', false],
    // On 29 March 2026 clocks in Berlin go from 2:00 to 3:00, on 25 October from 3:00 back to 2:00.
    ['* 0-2 * * *', 'Europe/Berlin', '2026-03-29T00:59:00Z', true],
    ['* 0-2 * * *', 'Europe/Berlin', '2026-03-29T01:00:00Z', false],
    ['* 0-2 * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z', true],
    ['* 0-2 * * *', 'Europe/Berlin', '2026-10-25T01:30:00Z', true],
    ['* 0-2 * * *', 'Europe/Berlin', '2026-10-25T02:00:00Z', false],
  ])('%s in %s: at %s it is %s', (text, timezone, at, isOpen) => {
    expect(TimeZone.safeParse(timezone).success).toBe(true)
    expect(isInWindow([text], timezone, new Date(at))).toBe(isOpen)
  })

  it.each([
    [['* 22-23,0-4 * * 1-5'], 'UTC', '2017-07-01T12:00:00Z', '2017-07-03 00:00'],
    [['* 0-4 * * 1'], 'Asia/Tokyo', friday('12:34'), '2017-07-03 00:00'],
    [['* 0-4 1 * *'], 'America/New_York', '2026-11-30T12:00:00Z', '2026-12-01 00:00'],
    [['* * 29 2 *'], 'UTC', '2026-11-30T12:00:00Z', '2028-02-29 00:00'],
    [['* * * * 0,6', '* 10-23 * * *'], 'UTC', friday('12:00'), undefined],
  ])('%j in %s: after %s it opens at %s', (texts, timezone, at, opens) => {
    expect(nextWindow(texts, timezone, new Date(at))?.replace(` ${timezone}`, '')).toBe(opens)
  })

  it.each([
    ['every weekend', 'is no cron pattern of five parts'],
    ['* * * *', 'is no cron pattern of five parts'],
    ['', 'is no cron pattern of five parts'],
    ['30 2 * * *', 'must have * as its minutes'],
    ['2026-11-30T22:00:00', 'must have * as its minutes'],
    ['* * 31 2 *', 'is a time that never comes'],
  ])('that is wrong is refused with its fault and an example: %j', (text, fault) => {
    const message = ScheduleText.safeParse(text).error?.issues[0]?.message ?? ''
    expect(message.startsWith(`${fault}; write `), message).toBe(true)
    expect(message).toContain('"* * * * 0,6"')
  })

  it('that is wrong in a file is named with its line', () => {
    const read = () => readSettingsFile('remora.yaml', 'github:\n  schedule:\n    - "* * * * 0,6"\n    - every night\n')
    expect(read).toThrow(expect.objectContaining({ code: 'CONFIG_003' }))
    expect(read).toThrow(/remora\.yaml:4: .*is no cron pattern/)
  })

  it.each(['Mars/Olympus', '', 'Europe/Berlin; DROP'])('%j is no time zone', (name) => {
    expect(TimeZone.safeParse(name).success).toBe(false)
  })
})
