import { describe, expect, it } from 'vitest'
import { drawHistory } from './draw-history.ts'
import { chaosSection, failureText, historyLine, totalsLine } from './chaos-report.ts'
import type { HistoryOutcome } from './run-history.ts'

const history = drawHistory(7)
const outcome: HistoryOutcome = {
  history,
  met: [],
  runs: [],
  operations: 41,
  retried: 3,
  answered: 2,
  durationMs: 4_210,
  violations: [],
}
const bad = { ...outcome, history: drawHistory(8), violations: ['run r1: verify 2: off by one'] }
const faults = history.faults.length + bad.history.faults.length

describe('the report of chaos', () => {
  it('has a line per history and the totals', () => {
    expect(historyLine(outcome)).toMatch(
      /^seed 7 {2}\d faults \(.*\) {2}0 runs {2}41 operations {2}3 retried {2}2 answered {2}4\.2 s/,
    )
    expect(totalsLine([outcome, bad])).toBe(`2 histories, ${faults} faults, 1 violations`)
  })

  it('prints how to play a failing history again, and what it left behind', () => {
    const text = failureText(bad, '/tmp/left')
    expect(text).toContain('npm run chaos -- --seed 8 --runs 1')
    expect(text).toContain('folder: /tmp/left')
    expect(text).toContain('VIOLATION run r1: verify 2: off by one')
    for (const { kind } of bad.history.faults) expect(text).toContain(kind)
  })

  it('records totals, failing seeds, machine and fault counts', () => {
    const place = { seed: 7, tookMs: 9_000, redis: '7.0.15', commit: 'abc1234', date: new Date(0) }
    const section = chaosSection([outcome, bad], place)
    expect(section).toContain(`**2 histories, ${faults} faults, 1 violations.** 0 runs, 82 operations`)
    expect(section).toContain('Failing seeds: 8.')
    expect(section).toContain('1970-01-01, commit abc1234, 9 s in all')
    expect(section).toMatch(/^\| kill_worker \| \d+ \|$/m)
  })
})
