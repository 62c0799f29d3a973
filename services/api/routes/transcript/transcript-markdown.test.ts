import { describe, expect, it } from 'vitest'
import { code, fenced, fencedValue } from './markdown-text.ts'
import { transcriptMarkdown } from './transcript-markdown.ts'
import { anAskingRecord, aConversation, anEndedRecord, anOperation } from './transcript.fixture.ts'
import { transcriptView } from './transcript-view.ts'

const whole = { fullPrompts: true }
const ended = (record = anEndedRecord(), shown = whole) =>
  transcriptMarkdown(transcriptView(anOperation(), { kind: 'ended', hash: 'a1b2', record }, shown))

describe('a transcript as Markdown', () => {
  it('reads as the conversation went', async () => {
    await expect(ended()).toMatchFileSnapshot('./expected/ended.md')
  })

  it('says what of a change could not be checked, and why', () => {
    const record = anEndedRecord()
    if (record.changeSet === null) throw new Error('the fixture has a change set')
    const detail = 'there is no grammar for .txt files'
    const entry = { check: 'not_checked', of: 'parses', path: 'a.txt', ok: true, tool: 'none', detail } as const
    const text = ended({ ...record, changeSet: { ...record.changeSet, evidence: [entry] } })
    expect(text).toContain('- not checked: parses of `a.txt` (there is no grammar for .txt files)\n')
    expect(text).not.toContain('proved')
  })

  it('of an operation that waits ends with the question', async () => {
    const operation = anOperation({ status: 'waiting', outcome: null, waitsFor: 'q1' })
    const view = transcriptView(operation, { kind: 'unfinished', hash: 'a1b2', record: anAskingRecord() }, whole)
    await expect(transcriptMarkdown(view)).toMatchFileSnapshot('./expected/waiting.md')
  })

  it('of one that failed says with which code, and where the model gave no answer', () => {
    const [request] = aConversation.exchanges.filter(({ error }) => error !== undefined)
    const exchanges = request === undefined ? [] : [{ ...request, turn: 1 }]
    const told = { ...anEndedRecord(), messages: aConversation.messages.slice(0, 2), replies: [], tools: [], exchanges }
    const record = { ...told, model: '', changeSet: null }
    const failed = {
      status: 'failed',
      errorCode: 'AGENT_007',
      phase: 'model',
      reason: 'too long',
      summary: '',
    } as const
    const cost = { turns: 0, promptTokens: 0, completionTokens: 0, durationMs: 1, changedFiles: [] }
    const operation = anOperation({ status: 'failed', outcome: { ...failed, ...cost } })
    const text = transcriptMarkdown(transcriptView(operation, { kind: 'ended', hash: 'a1b2', record }, whole))
    expect(text).toContain('- status: failed `AGENT_007`\n- model: none answered\n')
    expect(text).toContain('· 1 request failed')
    expect(text).toContain('## Turn 1: the request failed')
    expect(text).toContain('Error `AGENT_007`:\n\n```\nthe context is full:\n8192 tokens\n```')
    expect(text).toMatch(/## Outcome: failed: `AGENT_007` \(model\)\n\nReason:\n\n```\ntoo long\n```\n$/)
  })

  it('leaves the prompts out where that is set, but not what was said later', () => {
    const text = ended(anEndedRecord(), { fullPrompts: false })
    expect(text).not.toContain('def total()\n')
    expect(text).not.toContain('You fix')
    expect(text).toContain('## System prompt\n\n21 characters, left out here: `llm_log.include_full_prompts` is false.')
    expect(text).toContain('You answered without a tool call.')
  })
})

describe('a text of others', () => {
  it.each([
    ['ends no block', '```\n# heading', '````\n```\n# heading\n````'],
    ['is not obeyed by a terminal', '\u001B]0;x\u0007\u202E\r', '```\n\\u001b]0;x\\u0007\\u202e\\u000d\n```'],
    ['may be empty', '', '```\n```'],
  ])('in a block %s', (_what, text, block) => {
    expect(fenced(text)).toBe(block)
  })

  it('may be long, and full of ticks', () => {
    const text = '`` ` '.repeat(300_000)
    expect(fenced(text)).toBe(`\`\`\`\n${text}\n\`\`\``)
  })

  it.each([
    ['a', '`a`'],
    ['a`b', '``a`b``'],
    ['`', '`` ` ``'],
    ['', '`  `'],
    ['a\nb\u001B', '`a\\u000ab\\u001b`'],
  ])('in a line: %j', (text, shown) => {
    expect(code(text)).toBe(shown)
  })

  it('of several lines within a value is shown in its lines', () => {
    expect(fencedValue({ a: 1 })).toBe('```json\n{\n  "a": 1\n}\n```')
    expect(fencedValue({ a: ['x\n  y: "z"'] })).toBe('```yaml\na:\n  - |-\n    x\n      y: "z"\n```')
  })
})
