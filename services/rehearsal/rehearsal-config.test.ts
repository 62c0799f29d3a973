import { describe, expect, it } from 'vitest'
import { parseConfig } from './rehearsal-config.ts'

describe('parseConfig', () => {
  it('has a default for everything', () => {
    expect(parseConfig({})).toEqual({
      host: '127.0.0.1',
      port: 8421,
      latencyMs: 0,
      faults: { shares: {}, seed: 1 },
      refusals: new Set(),
    })
  })

  it('reads shares of faults', () => {
    const { faults } = parseConfig({ REMORA_REHEARSAL_FAULTS: '429:0.05,hang:0.01', REMORA_REHEARSAL_SEED: '7' })
    expect(faults).toEqual({ shares: { '429': 0.05, hang: 0.01 }, seed: 7 })
  })

  it.each(['brimstone:0.1', '429', '429:0.7,503:0.7'])('refuses the shares %s', (text) => {
    expect(() => parseConfig({ REMORA_REHEARSAL_FAULTS: text })).toThrow(/REMORA_REHEARSAL_FAULTS/)
  })

  it('reads what is refused', () => {
    expect(parseConfig({ REMORA_REHEARSAL_REFUSES: 'named,required' }).refusals).toEqual(new Set(['named', 'required']))
    expect(() => parseConfig({ REMORA_REHEARSAL_REFUSES: 'names' })).toThrow(/REMORA_REHEARSAL_REFUSES/)
  })

  it('names every bad variable in one error', () => {
    const env = { REMORA_REHEARSAL_PORT: 'eighty', REMORA_REHEARSAL_LATENCY_MS: '-1' }
    expect(() => parseConfig(env)).toThrow(/REMORA_REHEARSAL_PORT.*REMORA_REHEARSAL_LATENCY_MS/)
    expect(() => parseConfig(env)).toThrow(expect.objectContaining({ code: 'CONFIG_003' }))
  })
})
