import { describe, expect, it } from 'vitest'
import { memoryCurve } from './memory-curve.ts'

const samples = [
  { phase: 'plan', share: 1, bytes: 100 * 2 ** 20 },
  { phase: 'execution', share: 1, bytes: 150 * 2 ** 20 },
  { phase: 'after', share: 1, bytes: 0 },
] as const

describe('the memory curve', () => {
  it('draws each sample in its phase, the axis up to the next round figure', () => {
    const svg = memoryCurve({ title: 'Memory', lines: [{ name: 'one', samples }], operations: 1000 })
    const halfUp = (64 + 340) / 2
    expect(svg).toContain(`d="M228 ${halfUp}L684 133L836 340"`)
    expect(svg).toContain('>200<')
    expect(svg).toContain('one, at most 150 MiB')
  })

  it('names the unit of both axes and has no background of its own', () => {
    const svg = memoryCurve({ title: 'a < b & c', lines: [{ name: 'one', samples }], operations: 1000 })
    expect(svg).toContain('memory of Redis, MiB')
    expect(svg).toContain('progress of the run, operations')
    expect(svg).toContain('a &lt; b &amp; c')
    expect(svg).not.toContain('<rect')
  })

  it('draws several lines that differ in more than their colour', () => {
    const lines = ['one', 'two'].map((name) => ({ name, samples }))
    expect(memoryCurve({ title: 't', lines, operations: 10 }).match(/<path[^>]*stroke-dasharray/g)).toHaveLength(1)
  })
})
