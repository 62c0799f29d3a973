import { describe, expect, it } from 'vitest'
import { eventsOf, plannedRun } from './events.fixture.ts'
import { foldProgress } from './fold-progress.ts'
import { openPlainLines } from './plain-lines.ts'
import { emptyProgress } from './progress-state.ts'

function linesOf(count: number): string[] {
  const planned = plannedRun.map((event) =>
    event.event === 'run.planned' ? { ...event, data: { operations: count } } : event,
  )
  const work = Array.from({ length: count }, (_, index) => [
    { event: 'operation.started', operation_id: `o${index}`, agent: 'lint' },
    { event: 'operation.ended', operation_id: `o${index}`, agent: 'lint', data: { status: 'unchanged' } },
  ])
  const lineFor = openPlainLines()
  const lines: string[] = []
  let state = emptyProgress('r1')
  for (const event of eventsOf([...planned, ...work.flat(), { event: 'run.completed', atMs: 1200 }])) {
    state = foldProgress(state, event)
    const line = lineFor(state, 0)
    if (line !== undefined) lines.push(line)
  }
  return lines
}

describe('progress for a pipe', () => {
  it('is a line per phase and one for every 5 % of the operations', () => {
    const lines = linesOf(2000)
    expect(lines).toHaveLength(4 + 20 + 1)
    expect(lines.slice(0, 5)).toEqual([
      '[0 ms] snapshot: storing the files',
      '[0 ms] discovery: 12 files',
      '[0 ms] planning: 40 nodes',
      '[0 ms] execution: 0/2000 operations done, 0 running, 0 failed',
      '[0 ms] execution: 100/2000 operations done, 0 running, 0 failed',
    ])
    expect(lines.at(-1)).toBe('[1.2 s] review: 2000/2000 operations done, 0 running, 0 failed')
  })

  it('says so when two seconds have passed and something ended', () => {
    const lineFor = openPlainLines()
    const planned = eventsOf(plannedRun.map((event) => ({ ...event, data: { operations: 2000 } })))
    const start = planned.reduce(foldProgress, emptyProgress('r1'))
    const [ended] = eventsOf([
      { event: 'operation.ended', operation_id: 'o1', agent: 'lint', data: { status: 'unchanged' } },
    ])
    const next = ended === undefined ? start : foldProgress(start, ended)
    lineFor(start, 0)
    expect(lineFor(next, 1999)).toBeUndefined()
    expect(lineFor(next, 2000)).toContain('1/2000')
    expect(lineFor(next, 9000)).toBeUndefined()
  })
})
