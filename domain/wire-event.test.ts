import { describe, expect, it } from 'vitest'
import { type Event, eventOfWire, wireEvent, WireEvent } from './event.ts'

const bare: Event = {
  v: 1,
  seq: 7,
  ts: 1_000_000_000_123,
  projectId: 'default',
  runId: 'r00000000',
  event: 'turn.finished',
  category: 'worker_progress',
  phase: 'model',
  status: 'ok',
  origin: { kind: 'worker', id: 'w1' },
  correlationId: 'r00000000',
  data: { nested: { ключ: ['"', '\u2028', '\n', null] } },
}
const full: Event = {
  ...bare,
  status: 'error',
  operationId: 'o1',
  nodeId: 'n1',
  agent: 'lint',
  toolName: 'run_linter',
  durationMs: 1.5,
  errorCode: 'TOOL_003',
}

describe('an event on the wire', () => {
  it.for([bare, full])('is the same event when it is read back', (event) => {
    const line = JSON.stringify(wireEvent(event))
    expect(line).not.toContain('\n')
    expect(eventOfWire(WireEvent.parse(JSON.parse(line)))).toEqual(event)
  })

  it('is named in snake_case, tells its time as ISO 8601 and leaves out what does not apply', () => {
    expect(wireEvent(full)).toMatchObject({ ts: '2001-09-09T01:46:40.123Z', tool_name: 'run_linter' })
    expect(Object.keys(wireEvent(bare))).not.toContain('tool_name')
  })

  it('may have fields of a newer version, which are passed over', () => {
    const newer = { ...wireEvent(bare), colour: 'red' }
    expect(eventOfWire(WireEvent.parse(newer))).toEqual(bare)
  })
})
