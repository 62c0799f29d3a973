import { describe, expect, it } from 'vitest'
import { recordedLog } from '#testing/recorded-log.ts'
import { openLog } from './log.ts'
import { openRedactor } from './secrets/redactor.ts'

describe('a log', () => {
  it('has no secret it was told of, and no login of an address', () => {
    const { log, lines, entries } = recordedLog({ redactor: openRedactor(['key-of-mine']) })
    const cause = new Error('redis://:hu,sh@host is away')
    log.warn('http://u:hush@host/v1?api_key=hush', { key: 'key-of-mine', error: new Error('no', { cause }) })
    expect(lines).toHaveLength(1)
    expect(lines[0]).not.toMatch(/hush|hu,|key-of-mine/)
    expect(entries[0]).toMatchObject({ message: 'http://host/v1?api_key=***', key: '[secret]' })
  })

  it('is readable when a person reads it, and as redacted', () => {
    const lines: string[] = []
    const redactor = openRedactor(['key-of-mine'])
    const write = (line: string) => void lines.push(line)
    const log = openLog({ service: 'worker', instance: 'w1', level: 'info', format: 'pretty', redactor, write })
    log.info('run ended', { run_id: 'r1', counts: { failed: 2 }, reason: 'two words', key: 'key-of-mine' })
    log.warn('it failed', { error: new Error('no room') })
    expect(lines[0]).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} {2}info {3}w1 {2}run ended {2}run_id=r1 {2}counts=\{"failed":2\} {2}reason="two words" {2}key=\[secret\]\n$/,
    )
    expect(lines[1]).toMatch(/ {2}warn {3}w1 {2}it failed {2}error="no room"\nError: no room\n {4}at /)
  })

  it('has one line for an outage when it begins, one a minute, and one when every part has worked again for a while', () => {
    const { log, entries, clock } = openTimedLog()
    const [ledger, queue] = [{}, {}]
    for (; clock.now() <= 90_000; clock.pass(500)) {
      log.failing('Redis', ledger, new Error('refused'))
      log.failing('Redis', queue, new Error('refused'))
    }
    log.failing('S3', ledger, new Error('refused'))
    log.working('Redis', queue)
    log.working('Redis', queue)
    clock.pass(20_000)
    expect(entries).toHaveLength(3)
    log.working('Redis', ledger)
    log.working('Redis', ledger)
    clock.pass(9_000)
    expect(entries).toHaveLength(3)
    clock.pass(1_000)
    log.failing('Redis', ledger, new Error('refused again'))
    expect(entries).toMatchObject([
      { level: 'warn', message: 'Redis cannot be used', error: { message: 'refused' } },
      { level: 'warn', message: 'Redis still cannot be used', for_ms: 60_000, failures: 241 },
      { level: 'warn', message: 'S3 cannot be used' },
      { level: 'warn', message: 'Redis can be used again', after_ms: 90_500, failures: 362 },
      { level: 'warn', message: 'Redis cannot be used', error: { message: 'refused again' } },
    ])
  })

  it('ends an outage whose parts have nothing to do any more, whatever failed last', () => {
    const { log, messages, clock } = openTimedLog()
    const [connection, locks] = [{}, {}]
    log.failing('Redis', connection, new Error('refused'))
    clock.pass(30_000)
    log.working('Redis', connection)
    clock.pass(5_000)
    log.failing('Redis', locks, new Error('Missing lock'))
    clock.pass(299_000)
    expect([log.isFailing('Redis'), messages()]).toEqual([true, ['Redis cannot be used']])
    clock.pass(1_000)
    expect(log.isFailing('Redis')).toBe(false)
    expect(messages()).toEqual(['Redis cannot be used', 'no failure of Redis for 5 minutes'])
  })
})

/** A log by a clock that a test moves. */
function openTimedLog() {
  const timers = new Map<symbol, { at: number; work: () => void }>()
  let now = 0
  const clock = {
    now: () => now,
    after(ms: number, work: () => void) {
      const timer = Symbol('timer')
      timers.set(timer, { at: now + ms, work })
      return () => void timers.delete(timer)
    },
    pass(ms: number) {
      now += ms
      for (const [timer, { at, work }] of timers) {
        if (at <= now && timers.delete(timer)) work()
      }
    },
  }
  return { ...recordedLog({ clock }), clock }
}
