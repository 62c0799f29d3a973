import { describe, expect, it } from 'vitest'
import { eventsOf, plannedRun } from './events.fixture.ts'
import { foldProgress } from './fold-progress.ts'
import { openPlainLines } from './plain-lines.ts'
import { emptyProgress } from './progress-state.ts'

/** What is said of `count` operations, of which one ends every `everyMs`. */
function linesOf(count: number, everyMs: number): string[] {
  const planned = plannedRun.map((event) =>
    event.event === 'run.planned' ? { ...event, data: { operations: count } } : event,
  )
  const work = Array.from({ length: count }, (_, index) => [
    { event: 'operation.started', operation_id: `o${index}`, agent: 'lint', atMs: index * everyMs },
    {
      event: 'operation.ended',
      operation_id: `o${index}`,
      agent: 'lint',
      data: { status: 'unchanged' },
      atMs: (index + 1) * everyMs,
    },
  ])
  const lineFor = openPlainLines()
  const lines: string[] = []
  let state = emptyProgress('r1')
  for (const event of eventsOf([...planned, ...work.flat(), { event: 'run.completed', atMs: count * everyMs }])) {
    state = foldProgress(state, event)
    const line = lineFor(state, Date.parse(event.ts))
    if (line !== undefined) lines.push(line)
  }
  return lines
}

describe('progress for a pipe', () => {
  it('is a line per phase, and one about every second in between', () => {
    const lines = linesOf(2000, 10)
    expect(lines).toHaveLength(4 + 20 + 1)
    expect(lines.slice(0, 5)).toEqual([
      '[0 ms] snapshot: storing the files',
      '[0 ms] discovery: 12 files',
      '[0 ms] planning: 40 nodes',
      '[0 ms] execution: 0/2000 operations done, 0 running, 0 failed',
      '[1.0 s] execution: 100/2000 operations done, 0 running, 0 failed',
    ])
    expect(lines.at(-1)).toBe('[20.0 s] review: 2000/2000 operations done, 0 running, 0 failed')
  })

  it('says no more than the phases of a run that is over in a moment', () => {
    expect(linesOf(200, 1)).toHaveLength(4 + 1)
  })

  it('says so when a second has passed and something ended', () => {
    const lineFor = openPlainLines()
    const planned = eventsOf(plannedRun.map((event) => ({ ...event, data: { operations: 2000 } })))
    const start = planned.reduce(foldProgress, emptyProgress('r1'))
    const [ended] = eventsOf([
      { event: 'operation.ended', operation_id: 'o1', agent: 'lint', data: { status: 'unchanged' } },
    ])
    const next = ended === undefined ? start : foldProgress(start, ended)
    lineFor(start, 0)
    expect(lineFor(next, 999)).toBeUndefined()
    expect(lineFor(next, 1000)).toContain('1/2000')
    expect(lineFor(next, 9000)).toBeUndefined()
  })

  it('says what runs, with the time that has passed, when nothing begins or ends', () => {
    const lineFor = openPlainLines()
    const started = { event: 'operation.started', operation_id: 'o1', agent: 'lint' }
    const state = eventsOf([...plannedRun, started]).reduce(foldProgress, emptyProgress('r1'))
    expect(lineFor(state, 0)).toContain('1 running')
    expect(lineFor(state, 9999)).toBeUndefined()
    expect(lineFor(state, 10_000)).toMatch(/^\[10\.\d s\] execution: .* 1 running/)
    expect(lineFor(state, 20_000)).toMatch(/^\[20\.\d s\]/)
  })
})
