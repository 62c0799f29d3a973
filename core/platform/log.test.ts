import { describe, expect, it } from 'vitest'
import { openLog } from './log.ts'
import { openRedactor } from './secrets/redactor.ts'

describe('a log', () => {
  it('has no secret it was told of, and no login of an address', () => {
    const lines: string[] = []
    const redactor = openRedactor(['key-of-mine'])
    const log = openLog({ service: 'test', level: 'info', redactor, write: (line) => lines.push(line) })
    const cause = new Error('redis://:hu,sh@host is away')
    log.warn('http://u:hush@host/v1?api_key=hush', { key: 'key-of-mine', error: new Error('no', { cause }) })
    expect(lines).toHaveLength(1)
    expect(lines[0]).not.toMatch(/hush|hu,|key-of-mine/)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: 'http://host/v1?api_key=***', key: '[secret]' })
  })

  it('has one line for an outage when it begins, one a minute, and one when every part works again', () => {
    const lines: string[] = []
    let now = 0
    const log = openLog({ service: 'test', level: 'info', write: (line) => lines.push(line), now: () => now })
    const [ledger, queue] = [{}, {}]
    for (; now <= 90_000; now += 500) {
      log.failing('Redis', ledger, new Error('refused'))
      log.failing('Redis', queue, new Error('refused'))
    }
    log.failing('S3', ledger, new Error('refused'))
    log.working('Redis', queue)
    log.working('Redis', queue)
    expect(lines).toHaveLength(3)
    log.working('Redis', ledger)
    log.working('Redis', ledger)
    log.failing('Redis', ledger, new Error('refused again'))
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { level: 'warn', message: 'Redis cannot be used', error: { message: 'refused' } },
      { level: 'warn', message: 'Redis still cannot be used', for_ms: 60_000, failures: 241 },
      { level: 'warn', message: 'S3 cannot be used' },
      { level: 'warn', message: 'Redis can be used again', after_ms: 90_500, failures: 362 },
      { level: 'warn', message: 'Redis cannot be used', error: { message: 'refused again' } },
    ])
  })
})
