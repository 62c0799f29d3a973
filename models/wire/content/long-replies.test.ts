import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { parseContent } from './parse-content.ts'
import { proseSigns, signs } from './repeated-signs.fixture.ts'
import { tools } from './written-calls.fixture.ts'

/** A regular expression keeps its way back for every round of a group, and a call its arguments: both on the stack. */
const script = `
  import { parseContent } from ${JSON.stringify(new URL('parse-content.ts', import.meta.url).href)}
  const heads = { a: '{"name":"', 1: '{"name":0.', 2: '{"name":1e', '~': '', '\`': '', ' ': '\`\`\`json\\n', x: '\`\`\`' }
  for (const [sign, head] of Object.entries(heads)) parseContent(head + sign.repeat(8_000_000), [])
  parseContent('\`\`\`json\\n' + '\`'.repeat(8_000_000), [])
  parseContent('[' + '{"name":"write","arguments":{}},'.repeat(250_000) + '{"name":"write","arguments":{}}]', [])
`

describe('parseContent', () => {
  // What starts over at every sign takes minutes for these: longer than a test may.
  it('takes the same sign again and again, up to 600 kB', () => {
    for (const sign of [...signs, ...proseSigns]) {
      expect(parseContent(sign.repeat(600_000 / sign.length), tools)).toHaveProperty('rest')
    }
  })

  // V8 stops optimizing new regular expressions once a process has much compiled code, and these then need far more of the stack.
  it('takes 8 MB of the same, even where V8 does not optimize its regular expressions', () => {
    const args = ['--no-regexp-optimization', '--input-type=module', '-e', script]
    expect(() => execFileSync(process.execPath, args, { stdio: 'pipe' })).not.toThrow()
  })
})
