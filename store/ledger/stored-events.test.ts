import { describe, expect, it } from 'vitest'
import type { NewEvent } from '#domain/event.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { anEvent } from '#testing/an-event.ts'
import { decodeEvent, storedEvents, type StreamEntry } from './stored-events.ts'

const run = { runId: 'r00000000', projectId: 'default' }

const argumentsOf = (events: NewEvent[]) => storedEvents({ redactor: openRedactor(), archive: undefined }, run, events)

async function roundTrip(event: NewEvent) {
  const [, body] = await argumentsOf([event])
  const entry: StreamEntry = ['7-0', ['m', 1_000, 'j', body ?? '']]
  return decodeEvent(entry, run).event
}

describe('an event in the stream', () => {
  it('comes back with everything its emitter said, and what is constant for the run', async () => {
    const said = {
      event: 'tool.returned',
      phase: 'tools',
      status: 'error',
      origin: { kind: 'worker', id: 'w1' },
      operationId: 'o1',
      nodeId: 'n1',
      agent: 'lint',
      toolName: 'run_linter',
      durationMs: 1.5,
      errorCode: 'TOOL_003',
      causationSeq: 3,
      data: {
        attempt: 1,
        turn: 1,
        call_id: 'c',
        outcome: 'error',
        summary: 's',
        knowledge: { ключ: ['"', '\u2028', null] },
      },
    } as const
    expect(await roundTrip(anEvent(said))).toEqual({
      ...said,
      generation: 1,
      v: 1,
      seq: 7,
      ts: 1_000,
      ...run,
      category: 'worker_progress',
      correlationId: run.runId,
    })
  })

  it('has no fields its emitter left out, and is ok unless it says otherwise', async () => {
    const event = await roundTrip(anEvent())
    expect(event.status).toBe('ok')
    expect(Object.keys(event)).not.toContain('toolName')
  })

  it('is refused when the body is of no known event', () => {
    const entry: StreamEntry = ['7-0', ['m', 1_000, 'j', '{"e":"no.such","p":"model","k":"worker","i":"w","j":{}}']]
    expect(() => decodeEvent(entry, run)).toThrow('unknown event')
  })

  it('says in whole milliseconds how long ago it happened', async () => {
    const told = await argumentsOf([anEvent({ ageMs: 12.6 }), anEvent()])
    expect(told.filter((_, index) => index % 2 === 0)).toEqual(['13', '0'])
  })
})
