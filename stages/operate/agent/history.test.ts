import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import type { Message } from '#domain/turn.ts'
import { openHistory, type History, type Sent } from './history.ts'
import { firstMessages } from './open-transcript.ts'

type Round = { calls: number; size: number; corrected: boolean }

/** A reply with its calls' results, and the loop's answer to it. */
function round(at: number, { calls, size, corrected }: Round): Message[] {
  const toolCalls = Array.from({ length: calls }, (_, n) => ({ id: `${at}.${n}`, name: 'read', arguments: '{}' }))
  const results = toolCalls.map(({ id }) => ({ role: 'tool' as const, toolCallId: id, content: 'x'.repeat(size) }))
  const user: Message[] = corrected ? [{ role: 'user', content: 'Call a tool.' }] : []
  return [{ role: 'assistant', content: null, toolCalls }, ...results, ...user]
}

const plain: Round = { calls: 1, size: 100, corrected: false }
const note = (leftOut: readonly Message[]) => `(${leftOut.length} messages are left out.)`
const noTools = { tools: [], maxMessages: 40, maxContextTokens: 1_000_000, note }

function play(rounds: readonly Round[], options: Parameters<typeof openHistory>[1], each?: (history: History) => void) {
  const messages = firstMessages('system', 'user')
  const history = openHistory(messages, options)
  const sent: Sent[] = [history.fit()]
  for (const [at, one] of rounds.entries()) {
    messages.push(...round(at, one))
    const fitted = history.fit()
    sent.push({ ...fitted, messages: [...fitted.messages] })
    each?.(history)
  }
  return { messages, history, sent, last: sent.at(-1) ?? { messages: [], leftOut: 0 } }
}

const rounds = (count: number): Round[] => Array.from({ length: count }, () => plain)

/** Every result with the call it belongs to, and every call with its result. */
function isPaired(messages: readonly Message[]): boolean {
  const open = new Set<string>()
  for (const message of messages) {
    if (message.role === 'tool' && !open.delete(message.toolCallId)) return false
    if (message.role !== 'assistant') continue
    if (open.size > 0) return false
    for (const { id } of message.toolCalls) open.add(id)
  }
  return open.size === 0
}

describe('the history of a conversation', () => {
  it('is within its limits also when the note on the rest grows with it', () => {
    const growing = (leftOut: readonly Message[]) => 'said '.repeat(leftOut.length * 4)
    const { sent } = play(rounds(40), { ...noTools, maxContextTokens: 500, note: growing })
    expect(sent.at(-1)?.leftOut).toBeGreaterThan(0)
    for (const { tooLong } of sent) expect(tooLong).toBeUndefined()
  })

  it('is too long only when no tokenizer could make it fit, until a server has counted', () => {
    const big = { ...plain, size: 6000 }
    const limits = { ...noTools, maxContextTokens: 1000 }
    expect(play([big], limits).last.tooLong).toBeUndefined()
    expect(play([{ ...big, size: 9000 }], limits).last.tooLong).toMatchObject({ maxTokens: 1000 })
    const dense = play([big, big], limits, (history) => history.counted(3000))
    expect(dense.history.fit().tooLong?.tokens).toBeGreaterThan(1000)
  })

  it('makes room for several turns at once, so that requests begin alike', () => {
    const { sent } = play(rounds(100), noTools)
    const moves = sent.filter(({ leftOut }, at) => leftOut !== (sent[at - 1]?.leftOut ?? 0))
    expect(moves.length).toBeGreaterThan(5)
    expect(moves.length).toBeLessThan(100 / 4)
    const heads = new Set(sent.map(({ messages }) => messages[1]?.content))
    expect(heads.size).toBe(moves.length + 1)
  })

  it('takes four characters for a token until a server has counted', () => {
    const big = { ...plain, size: 10_000 }
    const limits = { ...noTools, maxContextTokens: 10_000 }
    expect(play([big, big, big], limits).last.leftOut).toBe(0)
    expect(play([big, big, big, big], limits).last.leftOut).toBeGreaterThan(0)
    const dense = play([big, big], limits, (history) => history.counted(6000)).history.fit()
    expect(dense.leftOut).toBe(2)
  })

  it('weighs the tools, which every request holds', () => {
    const big = { ...plain, size: 10_000 }
    const limits = { ...noTools, maxContextTokens: 10_000 }
    const tools = [{ name: 'read', description: 'y'.repeat(20_000), parameters: {} }]
    expect(play([big, big, big], { ...limits, tools }).last.leftOut).toBeGreaterThan(0)
  })

  it('does not believe a server that counts next to nothing', () => {
    const big = { ...plain, size: 10_000 }
    const limits = { ...noTools, maxContextTokens: 10_000 }
    const { last } = play([big, big, big, big, big], limits, (history) => history.counted(1))
    expect(last.leftOut).toBeGreaterThan(0)
  })

  it('is halved for a server that refuses it, and grows no longer than what was refused', () => {
    const { messages, history } = play(rounds(10), noTools)
    expect(history.halve()).toBe(true)
    const halved = history.fit().messages.length
    expect(halved).toBeLessThan(messages.length)
    for (let more = 10; more < 40; more++) {
      messages.push(...round(more, plain))
      expect(history.fit().messages.length).toBeLessThanOrEqual(22)
    }
  })

  it('goes on with a conversation that was long when it was opened', () => {
    const { messages } = play(rounds(30), noTools)
    expect(openHistory(messages, noTools).fit().messages.length).toBeLessThanOrEqual(40)
  })

  it('never separates a reply from its results, and keeps the head and the newest reply', () => {
    const anyRound = fc.record({
      calls: fc.integer({ min: 0, max: 4 }),
      size: fc.integer({ min: 0, max: 3000 }),
      corrected: fc.boolean(),
    })
    const anyLimits = fc.record({
      maxMessages: fc.integer({ min: 4, max: 30 }),
      maxContextTokens: fc.integer({ min: 1, max: 5000 }),
    })
    const property = fc.property(
      fc.array(anyRound, { minLength: 1, maxLength: 40 }),
      anyLimits,
      fc.infiniteStream(fc.integer({ min: 0, max: 9000 })),
      (all, limits, counts) => {
        const each = (history: History) => {
          const count = Number(counts.next().value)
          if (count % 7 === 0) history.halve()
          else history.counted(count)
        }
        const { sent } = play(all, { tools: [], note, ...limits }, each)
        let total = 2
        for (const [at, { messages, leftOut }] of sent.slice(1).entries()) {
          const newest = round(at, all[at] ?? plain)
          total += newest.length
          expect(messages.length + leftOut).toBe(total)
          expect(messages.slice(0, 3).map(({ role }) => role)).toEqual(['system', 'user', 'assistant'])
          expect(isPaired(messages)).toBe(true)
          expect(messages.slice(-newest.length)).toEqual(newest)
          expect(messages.length).toBeLessThanOrEqual(Math.max(limits.maxMessages, 2 + newest.length))
        }
      },
    )
    fc.assert(property, { numRuns: draws(300) })
  })
})
