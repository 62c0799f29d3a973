import { describe, expect, it } from 'vitest'
import { parseContent } from './parse-content.ts'
import { heads, proseSigns, signs } from './repeated-signs.fixture.ts'
import { tools } from './written-calls.fixture.ts'

const shown = (sign: string) => ({ sign, shown: sign.replace(/ {9,}/, '…') })

// A regular expression or a search that starts over at every sign takes minutes for these: longer than a test may.
describe('parseContent', () => {
  it.each(signs.map(shown))('takes $shown again and again after any beginning', ({ sign }) => {
    const text = sign.repeat(Math.max(5000, 200_000 / sign.length))
    for (const head of heads) {
      for (const tail of ['', 'x', '\n']) expect(parseContent(head + text + tail, tools)).toHaveProperty('rest')
    }
  })

  it.each(proseSigns)('takes %j forty thousand times in prose, code and calls', (sign) => {
    for (const head of ['', '`', '<tool_call>', 'x ']) {
      expect(parseContent(head + sign.repeat(40_000), tools)).toHaveProperty('rest')
    }
  })
  it('takes fields that go on for 8 MB', () => {
    expect(parseContent(`{${'"id":"",'.repeat(1_000_000)}`, tools)).toHaveProperty('rest')
  })
})
