import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '#domain/turn.ts'
import { digestOf } from './digest-messages.ts'

const asks = (id: string, name: string, args: unknown): Message => ({
  role: 'assistant',
  content: 'Let me see.',
  toolCalls: [{ id, name, arguments: JSON.stringify(args) }],
})
const answers = (toolCallId: string, content: string): Message => ({ role: 'tool', toolCallId, content })

describe('the digest of messages that are left out', () => {
  it('names every call with its outcome, also of an answer that was clipped, and what the model was told', () => {
    const clipped = `{"outcome":"partial","summary":"3 faults, \\"2\\" fixable","result":{"list":[1,2\n… 900 characters cut …\n]}`
    const leftOut = [
      asks('c1', 'run_linter', {}),
      answers('c1', clipped),
      asks('c1', 'apply_lint_fix', { code: 'F401' }),
      answers('c1', JSON.stringify({ outcome: 'error', summary: 'there is no rule F401', error: 'no', result: null })),
      asks('c2', 'submit_result', { status: 'done' }),
      answers('c2', 'Submission refused: status: Invalid option (got "done")'),
      { role: 'user', content: 'You answered without a tool call.\nCall one of the tools.' } satisfies Message,
    ]
    expect(digestOf(leftOut)).toMatchInlineSnapshot(`
      "## Done so far, in messages that are left out
      - run_linter → partial: 3 faults, "2" fixable
      - apply_lint_fix {"code":"F401"} → error: there is no rule F401
      - submit_result {"status":"done"} → Submission refused: status: Invalid option (got "done")
      - you were told → You answered without a tool call. Call one of the tools."
    `)
  })

  it('keeps the newest of many, and counts the others', () => {
    const many = Array.from({ length: 200 }, (_, at) => [
      asks(`c${at}`, 'look', { at }),
      answers(`c${at}`, JSON.stringify({ outcome: 'success', summary: `saw ${at}` })),
    ]).flat()
    const digest = digestOf(many)
    expect(digest).toContain('\n… 170 before\n')
    expect(digest).toMatch(/saw 199$/)
  })

  it('is empty when nothing was done', () => {
    expect(digestOf([])).toBe('')
  })

  it('stays short whatever was said', () => {
    const part = fc.string({ maxLength: 30, unit: 'binary' })
    const text = fc.tuple(part, fc.nat({ max: 30 })).map(([once, times]) => once.repeat(times))
    const message: fc.Arbitrary<Message> = fc.oneof(
      fc.tuple(text, text).map(([name, args]) => asks('c1', name, args)),
      text.map((content) => answers('c1', content)),
      text.map((content): Message => ({ role: 'user', content })),
    )
    fc.assert(
      fc.property(fc.array(message, { maxLength: 40 }), (messages) => {
        expect(digestOf(messages).length).toBeLessThanOrEqual(2_000)
      }),
    )
  })
})
