import { describe, expect, it } from 'vitest'
import { anEvent } from '#testing/an-event.ts'
import type { AgentEvent } from '../agent/journal.ts'
import { openEventBatches } from './event-batches.ts'

const origin = { kind: 'worker', id: 'w1' } as const
const event = (turn: number, more: object = {}): AgentEvent =>
  anEvent({ event: 'tool.called', phase: 'tools', origin, data: { turn, ...more } })
const dataOf = ({ data }: { data: Record<string, unknown> }) => data
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** All batches until nothing is left, each as if it had arrived. */
function drained(events: readonly AgentEvent[]) {
  const batches = openEventBatches('w1')
  for (const one of events) batches.add(one)
  const sent = []
  do {
    sent.push(batches.next())
    batches.arrived()
  } while (batches.waiting)
  return sent
}

describe('the events of an attempt', () => {
  it('go in order, in batches of a bounded number', () => {
    const sent = drained(Array.from({ length: 1000 }, (_, at) => event(at)))
    expect(sent.map(({ n }) => n)).toEqual(sent.map((_, at) => at + 1))
    expect(Math.max(...sent.map(({ events }) => events.length))).toBeLessThanOrEqual(128)
    expect(sent.flatMap(({ events }) => events.map((one) => dataOf(one)['turn']))).toEqual(
      Array.from({ length: 1000 }, (_, at) => at),
    )
  })

  it('go in batches of a bounded size', () => {
    const sent = drained(Array.from({ length: 100 }, (_, at) => event(at, { text: 'é'.repeat(6000) })))
    expect(Math.max(...sent.map((batch) => bytesOf(batch.events)))).toBeLessThan(300_000)
    expect(sent.flatMap(({ events }) => events)).toHaveLength(100)
  })

  it('are sent again unchanged until they have arrived, whatever has been added since', () => {
    const batches = openEventBatches('w1')
    batches.add(event(1))
    const first = batches.next()
    batches.add(event(2))
    expect(batches.next()).toBe(first)
    expect(batches.waiting).toBe(true)
    batches.arrived()
    expect(batches.next()).toMatchObject({ n: 2, events: [{ data: { turn: 2 } }] })
  })

  it('go without what they say when they can never arrive with it, and then not at all', () => {
    const batches = openEventBatches('w1')
    batches.add({ ...event(1), toolName: 'odd' })
    batches.next()
    batches.add(event(2))
    batches.reduce()
    const [told] = batches.next().events
    expect(told).toMatchObject({ event: 'tool.called', data: { shortened: true } })
    expect(told).not.toHaveProperty('toolName')
    batches.reduce()
    expect(batches.next()).toEqual({ n: 1, events: [] })
    batches.arrived()
    expect(batches.next()).toMatchObject({ n: 2, events: [{ data: { turn: 2 } }] })
  })
})

describe('an event', () => {
  it('that is too long is cut between two words, so that no half of a key stays, which nobody would recognise', () => {
    const batches = openEventBatches('w1')
    const key = `ghp_${'a1B2'.repeat(9)}`
    const long = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, 'x'.repeat(2e4)]))
    for (let before = 470; before < 510; before += 1) {
      batches.add(event(before, { reason: 'word '.repeat(120).slice(0, before) + key, ...long }))
    }
    const cut = batches.next().events.map((one) => String(dataOf(one)['reason']))
    expect(cut.every((text) => text.endsWith('…'))).toBe(true)
    expect(cut.filter((text) => text.includes('ghp'))).toEqual([])
  })

  const deep: unknown = JSON.parse(`${'['.repeat(10_000)}${']'.repeat(10_000)}`)
  const loop: Record<string, unknown> = {}
  loop['self'] = loop
  it.each([
    ['a long text', { reason: 'x'.repeat(3e6) }],
    ['many texts', Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, 'text'.repeat(10)]))],
    ['a long list', { files: Array.from({ length: 5000 }, (_, at) => ({ path: `src/file${at}.py`, kind: 'edit' })) }],
    ['a deep value', { deep }],
    ['a value that never ends', loop],
    ['letters of several bytes', { reason: '語'.repeat(16_000) }],
  ])('with %s is cut to the allowed size, and still says where it belongs', (_what, more) => {
    const [batch] = drained([{ ...event(7, more), toolName: 'n'.repeat(3e6) }])
    const [told] = batch?.events ?? []
    expect(told).toMatchObject({ event: 'tool.called', data: { turn: 7 } })
    expect(bytesOf(told)).toBeLessThan(17 * 1024)
  })

  it('of the usual size is not changed', () => {
    const whole = event(1, { summary: 'é'.repeat(4000), files: Array.from({ length: 100 }, (_, at) => `src/${at}.py`) })
    expect(drained([whole])[0]?.events[0]).toMatchObject(whole)
  })
})
