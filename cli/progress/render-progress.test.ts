import { describe, expect, it } from 'vitest'
import { aRun } from '../answers.fixture.ts'
import { eventsOf, plannedRun, workedRun } from './events.fixture.ts'
import { foldProgress } from './fold-progress.ts'
import { openPaint, widthOf } from '../terminal-text.ts'
import { emptyProgress } from './progress-state.ts'
import { openPlainLines, renderScreen } from './render-progress.ts'

const worked = eventsOf(workedRun).reduce(foldProgress, emptyProgress('r1'))

describe('the live picture of a run', () => {
  it('has a bar per phase, the counts and the last events', () => {
    const pace = { operations: 2, tokens_in: 1_200, tokens_out: 90 }
    const state = { ...worked, seen: aRun({ last_minute: pace }) }
    const lines = renderScreen(state, { width: 50, elapsedMs: 12_340, paint: openPaint(false) })
    expect(`\n${lines.join('\n')}\n`).toBe(`
run r1  running  12.3 s
snapshot    ███████████████████████ 12 files
discovery   ███████████████████████ 40 nodes
planning    ███████████████████████ 4 planned
execution   █████████████████░░░░░░ 3/4
review      ░░░░░░░░░░░░░░░░░░░░░░░
operations  3 done · 1 running · 1 failed
now         works on operations
pace        2 operations, 1,200 tokens in, 90 out…
  40 nodes discovered
  4 operations planned
  lint tried again: lost
  lint src/a.py Shelf.count succeeded: Fixed 2 fa…
  docstring src/shop.py failed: AGENT_002 model s…
`)
  })

  it('fits the terminal, however narrow it is and whatever the names are', () => {
    const ended = { event: 'operation.ended', operation_id: 'o7', agent: 'lint' }
    const long = { ...ended, data: { status: 'failed', reason: `${'x'.repeat(300)}\u001B[2J\nnext` } }
    const noisy = eventsOf([long]).reduce(foldProgress, worked)
    for (const width of [30, 60, 200]) {
      const lines = renderScreen(noisy, { width, elapsedMs: 5, paint: openPaint(true) })
      for (const line of lines) {
        expect(widthOf(line)).toBeLessThanOrEqual(width)
        expect(line).not.toContain('\u001B[2J')
      }
    }
  })

  it('has colours only when they are wanted', () => {
    const coloured = (wanted: boolean) =>
      renderScreen(worked, { width: 80, elapsedMs: 0, paint: openPaint(wanted) })
        .join('')
        .includes('\u001B[')
    expect(coloured(true)).toBe(true)
    expect(coloured(false)).toBe(false)
  })

  it('shows the review as under way from the last operation to the end of the run', () => {
    const review = (drafts: Parameters<typeof eventsOf>[0]) =>
      renderScreen(eventsOf(drafts).reduce(foldProgress, emptyProgress('r1')), {
        width: 34,
        elapsedMs: 0,
        paint: openPaint(false),
      })[5]
    const ended = [...workedRun, { event: 'operation.ended', operation_id: 'o4', agent: 'lint', data: {} }]
    const composed = [...ended, { event: 'run.composed' }]
    expect(review(workedRun)).toBe('review      ░░░░░░░')
    expect(review(ended)).toBe('review      ▒▒▒▒▒▒▒ 1 change')
    expect(review(composed)).toBe('review      ▒▒▒▒▒▒▒ 1 change')
    const late = { event: 'operation.started', operation_id: 'o5', agent: 'lint' }
    expect(review([...composed, late])).toBe('review      ▒▒▒▒▒▒▒ 1 change')
    expect(review([...composed, { event: 'run.completed' }])).toBe('review      ███████ 1 change')
    expect(review([...ended, { event: 'run.cancelled' }])).toBe('review      ░░░░░░░')
  })
})

it('counts the operations of items that a conductor has planned by now, and takes no pause of theirs for the review', () => {
  const item = (operations: number) => ({ event: 'item.started', data: { operations } })
  const ends = Array.from({ length: 3 }, (_, index) => {
    return { event: 'operation.ended', operation_id: `o${index}`, agent: 'lint', data: { status: 'succeeded' } }
  })
  const lines = (drafts: Parameters<typeof eventsOf>[0]) => {
    const state = eventsOf([{ event: 'agenda.decided' }, ...drafts]).reduce(foldProgress, emptyProgress('r1'))
    return renderScreen({ ...state, phase: 'execution' }, { width: 40, elapsedMs: 0, paint: openPaint(false) })
  }
  expect(lines([item(3), ...ends]).slice(4, 6)).toEqual(['execution   █████████████ 3/3', 'review      ░░░░░░░░░░░░░'])
  expect(lines([item(3), ...ends, item(3)])[4]).toBe('execution   ██████░░░░░░░ 3/6')
})

describe('a patch that is being composed', () => {
  const ended = [...workedRun, { event: 'operation.ended', operation_id: 'o4', agent: 'lint', data: {} }]
  const state = eventsOf(ended).reduce(foldProgress, emptyProgress('r1'))
  const at = (operationsRead: number, filesProved: number, files: number) => {
    const composing = { operations_read: operationsRead, operations: 4, files_proved: filesProved, files }
    return { ...state, seen: aRun({ composing }) }
  }

  it('has its share in the bar of the review, and never less than before', () => {
    const bar = (progress: typeof state) =>
      renderScreen(progress, { width: 37, elapsedMs: 0, paint: openPaint(false) })[5]
    expect(bar(at(2, 0, 0))).toBe('review      ██░░░░░░░░ 2/4 read')
    expect(bar(at(4, 0, 3))).toBe('review      █████░░░░░ 0/3 files')
    expect(bar(at(4, 3, 3))).toBe('review      ██████████ 3/3 files')
  })

  it('has a line when another part of it is done, at most one a second', () => {
    const line = openPlainLines()
    line(state, 0)
    expect(line(at(0, 0, 0), 100)).toMatch(/^\[.*\] review: the changes of 0\/4 operations read$/)
    expect(line(at(4, 1, 3), 600)).toBeUndefined()
    expect(line(at(4, 2, 3), 1200)).toMatch(/review: 2\/3 changed files composed and checked$/)
    expect(line(at(4, 2, 3), 2500)).toBeUndefined()
  })
})

/** The events of `count` operations, of which one ends every `everyMs`. */
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
