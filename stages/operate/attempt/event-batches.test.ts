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
  const batches = openEventBatches({ workerId: 'w1', attempt: 3 })
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
    const batches = openEventBatches({ workerId: 'w1', attempt: 3 })
    batches.add(event(1))
    const first = batches.next()
    batches.add({ event: 'turn.finished', phase: 'model', data: { turn: 2, calls: 0 } })
    expect(batches.next()).toBe(first)
    expect(batches.waiting).toBe(true)
    batches.arrived()
    expect(batches.next()).toMatchObject({ n: 2, events: [{ data: { attempt: 3, turn: 2 } }] })
  })

  it('are sent one by one when they are refused, those that are refused alone are dropped, and what cannot be written is left out', () => {
    const batches = openEventBatches({ workerId: 'w1', attempt: 3 })
    const loop: Record<string, unknown> = {}
    loop['self'] = loop
    for (const one of [event(1), event(2, { loop }), event(3)]) batches.add(one)
    expect(batches.next()).toMatchObject({ n: 1, events: [{ data: { turn: 1 } }, { data: { turn: 3 } }] })
    batches.add(event(4))
    batches.reduce({ forGood: true })
    expect(batches.next()).toMatchObject({ n: 1, events: [{ data: { turn: 1 } }] })
    batches.reduce({ forGood: true })
    expect(batches.next()).toEqual({ n: 1, events: [] })
    batches.arrived()
    expect(batches.next()).toMatchObject({ n: 2, events: [{ data: { turn: 3 } }, { data: { turn: 4 } }] })
  })

  it('have what is to be reserved with the last of them, and with a later batch when that one is refused', () => {
    const batches = openEventBatches({ workerId: 'w1', attempt: 3 })
    for (let turn = 1; turn <= 130; turn += 1) batches.add(event(turn))
    batches.reserve(500)
    expect(batches.next().reserve).toBeUndefined()
    batches.arrived()
    expect(batches.next()).toMatchObject({ n: 2, events: [{}, {}], reserve: 500 })
    batches.reduce({ forGood: true })
    expect(batches.next().reserve).toBeUndefined()
    batches.arrived()
    expect(batches.waiting).toBe(true)
    expect(batches.next()).toMatchObject({ n: 3, events: [{ data: { turn: 130 } }], reserve: 500 })
    batches.arrived()
    expect(batches.waiting).toBe(false)
  })

  it('are not cut, whatever a model has written', () => {
    const whole = event(1, { summary: 'é'.repeat(1e6) })
    expect(drained([whole])[0]?.events[0]).toMatchObject(whole)
  })
})
