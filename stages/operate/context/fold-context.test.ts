import { describe, expect, it } from 'vitest'
import { recordedEvents, scope } from './recorded-events.fixture.ts'
import { foldContext } from './fold-context.ts'

describe('the context out of recorded events', () => {
  it('says of its own node alone that nothing had to be changed', () => {
    const unchanged = recordedEvents.map((event) =>
      event.event === 'operation.ended' ? { ...event, data: { ...event.data, status: 'unchanged' } } : event,
    )
    expect(foldContext(unchanged, scope).longTrack.map(({ agent }) => agent)).toEqual(['lint'])
  })

  it('takes the last result of each agent and node', () => {
    const again = recordedEvents.find(({ event, nodeId }) => event === 'operation.ended' && nodeId === scope.nodeIds[1])
    if (again === undefined) throw new Error('nothing was recorded')
    const later = { ...again, data: { ...again.data, status: 'succeeded', reason: undefined } }
    const { longTrack } = foldContext([...recordedEvents, later], scope)
    expect(longTrack.map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
  })

  it('forgets an error once the same thing went well, and no other', () => {
    const at = (event: string, from = 0) =>
      recordedEvents.findIndex((one, index) => index > from && one.event === event)
    const upTo = (end: number) => foldContext(recordedEvents.slice(0, end), scope).lastError
    const refused = at('tool.returned', at('tool.returned'))
    expect(upTo(refused + 1)).toEqual({
      of: 'write_docstring',
      errorCode: 'TOOL_002',
      reason: 'the docstring must not be empty',
    })
    const written = at('tool.returned', refused)
    expect(upTo(written)).toMatchObject({ of: 'write_docstring' })
    expect(upTo(written + 1)).toBeUndefined()
    expect(upTo(Infinity)).toMatchObject({ of: 'submit_result', errorCode: 'AGENT_005' })
  })

  it('begins anew with a new attempt but for what went wrong last, and goes on with one that was answered', () => {
    const started = { event: 'operation.started', operationId: scope.operationId, data: { attempt: 3 } } as const
    const anew = foldContext([...recordedEvents, started], scope)
    expect(anew).toMatchObject({ shortTrack: { actions: [] }, lastError: { of: 'submit_result' } })
    expect(anew.knowledge.size).toBe(0)
    const answered = { ...started, data: { attempt: 3, resumes: 'q1' } }
    expect(foldContext([...recordedEvents, answered], scope)).toEqual(foldContext(recordedEvents, scope))
  })

  it('keeps the last actions of a long attempt, and counts the others', () => {
    const called = (turn: number) => [
      { event: 'tool.called' as const, toolName: 'look', data: { call_id: 'c', arguments: `{"turn":${turn}}` } },
      { event: 'tool.returned' as const, toolName: 'look', data: { call_id: 'c', outcome: 'success', summary: 'ok' } },
    ]
    const { shortTrack } = foldContext(Array.from({ length: 100 }, (_, turn) => called(turn)).flat())
    expect(shortTrack.before).toBe(70)
    expect(shortTrack.actions.at(-1)?.arguments).toBe('{"turn":99}')
  })
})
