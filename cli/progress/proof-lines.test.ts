import { describe, expect, it } from 'vitest'
import { gateText as gateTextOfPull } from '#stages/publish/pull-text.ts'
import type { GateView } from '#schemas/gate-schema.ts'
import { gateOutputLines, gateText } from './proof-lines.ts'

const gate: GateView = {
  command: 'pytest',
  verdict: 'passed',
  tests: 274,
  failing: [],
  failing_total: 59,
  runs: 3,
  outputs: [],
  duration_ms: 2_000,
  left_out: 0,
}

describe('what a gate has proved', () => {
  it('is said with its share where some tests judge nothing', () => {
    expect(gateText(gate)).toBe(
      '274 of 333 tests pass as before, the other 59 did not pass without the changes; 3 runs in 2.0 s',
    )
    expect(gateText({ ...gate, failing_total: 0 })).toBe('274 tests pass as before; 3 runs in 2.0 s')
    const report = { command: 'pytest', tests: 274, failing: [], failingTotal: 59 }
    expect(
      gateTextOfPull({ ...report, verdict: 'passed', runs: 3, outputs: [], durationMs: 2_000, leftOut: 0 }),
    ).toContain('with these changes 274 of 333 tests of `pytest` pass')
  })

  it('is shown with the end of what the last runs wrote that did not end well', () => {
    const output = Array.from({ length: 12 }, (_none, at) => `line ${at + 1}`).join('\n')
    const outputs = [
      { change_sets: 0, ending: 'exit code 0', output: 'ok' },
      { change_sets: 2, ending: 'exit code 1', output },
    ]
    expect(gateOutputLines({ ...gate, outputs })).toEqual([
      'Run 2 of 3, with 2 change sets (exit code 1), wrote last:',
      ...output
        .split('\n')
        .slice(2)
        .map((line) => `  ${line}`),
    ])
  })
})
