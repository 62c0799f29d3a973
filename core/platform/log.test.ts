import { describe, expect, it } from 'vitest'
import { openLog } from './log.ts'

describe('a log', () => {
  it('has no secret it was told of, and no login of an address', () => {
    const lines: string[] = []
    const log = openLog({ service: 'test', level: 'info', secrets: ['key-of-mine'], write: (line) => lines.push(line) })
    const cause = new Error('redis://:hu,sh@host is away')
    log.warn('http://u:hush@host/v1?api_key=hush', { key: 'key-of-mine', error: new Error('no', { cause }) })
    expect(lines).toHaveLength(1)
    expect(lines[0]).not.toMatch(/hush|hu,|key-of-mine/)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: 'http://host/v1?api_key=***', key: '[secret]' })
  })
})
