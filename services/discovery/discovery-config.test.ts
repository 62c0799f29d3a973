import { describe, expect, it } from 'vitest'
import { parseConfig } from './discovery-config.ts'

describe('parseConfig', () => {
  it('keeps runs for a week, and objects without a reference for a day, unless it is told otherwise', () => {
    const dayMs = 86_400_000
    const { housekeeping } = parseConfig({}).config
    expect(housekeeping).toEqual({ everyMs: 600_000, retentionMs: 7 * dayMs, graceMs: dayMs })
    const env = { REMORA_HOUSEKEEPING_S: '0', REMORA_RETENTION_S: '3600', REMORA_COLLECT_GRACE_S: '7200' }
    const told = parseConfig(env).config.housekeeping
    expect(told).toEqual({ everyMs: 0, retentionMs: 3_600_000, graceMs: 7_200_000 })
  })

  it('refuses a grace within which a process may count on what it has put', () => {
    expect(() => parseConfig({ REMORA_COLLECT_GRACE_S: '3600', REMORA_RETENTION_S: '-1' })).toThrow(
      /REMORA_RETENTION_S.*REMORA_COLLECT_GRACE_S/,
    )
  })

  it.each([
    ['REMORA_MAX_TIMEOUT_S', '9999999'],
    ['REMORA_HOUSEKEEPING_S', '9999999'],
    ['REMORA_LEASE_MS', '2147483648'],
  ])('refuses %s that no timer waits for', (name, text) => {
    const read = () => parseConfig({ [name]: text })
    expect(read).toThrow(expect.objectContaining({ code: 'CONFIG_003', message: expect.stringContaining(name) }))
  })
})
