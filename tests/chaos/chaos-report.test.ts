import { describe, expect, it } from 'vitest'
import { drawHistory } from './draw-history.ts'
import { chaosSection, failureText, historyLine } from './chaos-report.ts'
import type { HistoryOutcome } from './run-history.ts'

const history = drawHistory(7, { objectives: false })
const outcome: HistoryOutcome = {
  history,
  met: [],
  runs: [],
  operations: 41,
  retried: 3,
  lost: 1,
  answered: 2,
  deferred: 0,
  network: undefined,
  host: undefined,
  durationMs: 4_210,
  violations: [],
}
const bad = { ...outcome, history: drawHistory(8, { objectives: false }), violations: ['run r1: verify 2: off by one'] }

describe('the report of chaos', () => {
  it('prints how to play a failing history again, and what it left behind', () => {
    const text = failureText(bad, '/tmp/left')
    expect(text).toContain('npm run chaos -- --seed 8 --runs 1')
    expect(text).toContain('folder: /tmp/left')
    expect(text).toContain('VIOLATION run r1: verify 2: off by one')
    for (const { kind } of bad.history.faults) expect(text).toContain(kind)
  })

  it('tells between machines what was lost, and of each fault of the network what it did', () => {
    const tally = { lostPackets: 40, latePieces: 7, lostConnections: 3, asked: 1, slowestBackMs: 2_150 }
    const between = {
      ...outcome,
      network: tally,
      met: ['700 ms cut machine=2 forMs=9000: 40 packets lost', '9 ms other'],
    }
    const [first = '', ...others] = historyLine(between).split('\n')
    expect(first).toContain('  3 retried  1 lost  ')
    expect(others).toEqual(['  700 ms cut machine=2 forMs=9000: 40 packets lost'])
    expect(failureText(between, '/tmp/left')).toContain('npm run chaos -- --machines --seed 7 --runs 1')
    const place = {
      seed: 7,
      machines: true,
      pushes: false,
      objectives: false,
      tookMs: 9_000,
      redis: '7.0.15',
      commit: 'abc1234',
      date: new Date(0),
    }
    const section = chaosSection([between, between], place)
    expect(section).toContain('# Chaos: random faults between machines')
    expect(section).toContain('80 packets were lost and 14 pieces were late; 6 connections went silent for ever')
    expect(section).toContain('2 attempts were taken back')
    expect(section).toContain('The slowest was ready again 2.1 s after')
    expect(section).toContain('`npm run chaos -- --machines --seed 7 --runs 2`')
    expect(section).toContain('half_cut 0')
  })
})
