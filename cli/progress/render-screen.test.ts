import { describe, expect, it } from 'vitest'
import { eventsOf, workedRun } from './events.fixture.ts'
import { foldProgress } from './fold-progress.ts'
import { openPaint, widthOf } from './paint.ts'
import { emptyProgress } from './progress-state.ts'
import { formatSeconds, renderScreen } from './render-screen.ts'

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
  lint succeeded: Fixed 2 faults.
  docstring failed: AGENT_002 model server down
`)
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

  it('tells times in the unit a person would use', () => {
    expect([850, 12_340, 245_000].map(formatSeconds)).toEqual(['850 ms', '12.3 s', '4 min 05 s'])
  })
})
