import { describe, expect, it } from 'vitest'
import { readFile, useProbePool } from './probe-pool.fixture.ts'
import type { ScriptEvent } from './script-event.ts'
import type { ScriptRequest } from './script-call.ts'

const probe = useProbePool()

async function eventsOf(source: string, request: Partial<ScriptRequest> = {}): Promise<ScriptEvent[]> {
  const events: ScriptEvent[] = []
  const run = probe.run(source, { ...request, onEvent: (event) => void events.push(event) })
  await run.catch(() => undefined)
  return events
}

describe('the events of a run', () => {
  it('say what it took, calls answered by a journal included', async () => {
    const source = `${readFile}for name in ["a", "b"]:\n    print(await read_file(name))\n1`
    const journal = [{ name: 'read_file', args: ['a'], answer: 'A' }]
    const events = await eventsOf(source, { externals: { read_file: () => 'B' }, journal })
    expect(events).toEqual([
      { type: 'run_start', path: 'tools/probe.pym', inputs: 0, externals: 1, replayed: 1 },
      {
        type: 'run_complete',
        path: 'tools/probe.pym',
        wallMs: expect.any(Number),
        ownMs: expect.any(Number),
        externalCalls: 2,
        printedChars: 4,
        processes: 1,
      },
    ])
  })

  it.each<[string, string, object]>([
    [
      'an exception',
      'print("ab")\n1 / 0',
      { code: 'TOOL_004', error: 'ZeroDivisionError: division by zero', printedChars: 3 },
    ],
    ['a limit', 'while True:\n    pass', { code: 'TOOL_003', limit: 'duration' }],
  ])('end with an error after %s', async (_, source, error) => {
    const events = await eventsOf(source, { limits: { durationMs: 300 } })
    expect(events).toMatchObject([{ type: 'run_start' }, { type: 'run_error', ...error }])
  })

  it('may go to a listener that throws', async () => {
    const onEvent = () => {
      throw new Error('no')
    }
    expect(await probe.run('1', { onEvent })).toMatchObject({ kind: 'returned', value: 1 })
  })
})
