import { describe, expect, it } from 'vitest'
import { eventsOf, workedRun } from './events.fixture.ts'
import { foldProgress } from './fold-progress.ts'
import { openPaint, widthOf } from './paint.ts'
import { emptyProgress } from './progress-state.ts'
import { renderScreen } from './render-screen.ts'

const state = eventsOf(workedRun).reduce(foldProgress, emptyProgress('r1'))

describe('the live picture of a run', () => {
  it('has a bar per phase, the counts and the last events', () => {
    const lines = renderScreen(state, { width: 50, elapsedMs: 12_340, paint: openPaint(false) })
    expect(`\n${lines.join('\n')}\n`).toBe(`
run r1  running  12.3 s
snapshot    ███████████████████████ 12 files
discovery   ███████████████████████ 40 nodes
planning    ███████████████████████ 4 planned
execution   █████████████████░░░░░░ 3/4
review      ░░░░░░░░░░░░░░░░░░░░░░░
operations  3 done · 1 running · 1 failed
  40 nodes discovered
  4 operations planned
  lint tried again: lost
  lint src/a.py Shelf.count succeeded: Fixed 2 fa…
  docstring src/shop.py failed: AGENT_002 model s…
`)
  })

  it('counts cancelled operations when there are any', () => {
    const waiting = { event: 'operation.skipped', operation_id: 'o5', agent: 'lint', data: { status: 'cancelled' } }
    const stopped = eventsOf([waiting]).reduce(foldProgress, state)
    const lines = renderScreen(stopped, { width: 80, elapsedMs: 0, paint: openPaint(false) })
    expect(lines).toContain('operations  4 done · 1 running · 1 failed · 1 cancelled')
  })

  it('fits the terminal, however narrow it is and whatever the names are', () => {
    const said = { event: 'operation.ended', operation_id: 'o7', agent: 'lint' }
    const long = { ...said, data: { status: 'failed', reason: `${'x'.repeat(300)}\u001B[2J\nnext` } }
    const noisy = eventsOf([long]).reduce(foldProgress, state)
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
      renderScreen(state, { width: 80, elapsedMs: 0, paint: openPaint(wanted) })
        .join('')
        .includes('\u001B[')
    expect(coloured(true)).toBe(true)
    expect(coloured(false)).toBe(false)
  })

  it('shows the review as under way from the last operation to the end of the run', () => {
    const review = (said: Parameters<typeof eventsOf>[0]) =>
      renderScreen(eventsOf(said).reduce(foldProgress, emptyProgress('r1')), {
        width: 34,
        elapsedMs: 0,
        paint: openPaint(false),
      })[5]
    const ended = [...workedRun, { event: 'operation.ended', operation_id: 'o4', agent: 'lint', data: {} }]
    const composed = [...ended, { event: 'run.composed' }]
    expect(review(workedRun)).toBe('review      ░░░░░░░')
    expect(review(ended)).toBe('review      ▒▒▒▒▒▒▒ 1 change')
    expect(review(composed)).toBe('review      ▒▒▒▒▒▒▒ 1 change')
    expect(review([...composed, { event: 'run.completed' }])).toBe('review      ███████ 1 change')
    expect(review([...ended, { event: 'run.cancelled' }])).toBe('review      ░░░░░░░')
  })
})
