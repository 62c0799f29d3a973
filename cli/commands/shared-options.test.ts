import { describe, expect, it } from 'vitest'
import { tokenCount } from './shared-options.ts'

const thousandths = Array.from({ length: 9_999 }, (_, at) => at + 1)

describe('a count of tokens', () => {
  it('is read exactly, whatever its decimals', () => {
    const texts = thousandths.map((count) => [count, (count / 1_000).toFixed(3)] as const)
    expect(texts.filter(([count, text]) => tokenCount(`${text}k`) !== count)).toEqual([])
    expect(texts.filter(([count, text]) => tokenCount(`${text}M`) !== count * 1_000)).toEqual([])
    expect(['1500000', '1500k', '1.5M', '2.05M', '0.5k', '1000000.000M'].map(tokenCount)).toEqual([
      1_500_000, 1_500_000, 1_500_000, 2_050_000, 500, 1_000_000_000_000,
    ])
  })

  it('is a whole number above 0, and no more than a budget may have', () => {
    for (const text of ['0', '0.0k', '1.5', '1.0005k', '1.2345M', '-1', '1e6', '1 000', '', 'k', '1000001M', '2m'])
      expect(() => tokenCount(text), text).toThrow('whole number of tokens above 0')
  })
})
