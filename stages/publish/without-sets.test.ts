import { expect, it } from 'vitest'
import { openBase, setOf } from './composed.fixture.ts'
import { gateOfMore, withoutSets } from './without-sets.ts'

it('a change set that is left out takes with it what is built on it or shares a file with it, and the verdict of the gate', () => {
  const base = openBase({ 'a.py': 'a = 1\nb = 1\n', 'b.py': 'b = 1\n' })
  const source = base.composed([
    setOf('one', 'lint', [base.editing('a.py', ['a = 1', 'a = 2'])]),
    setOf('beside', 'lint', [base.editing('a.py', ['b = 1', 'b = 2']), base.creating('n.py', 'n\n')]),
    setOf('onto', 'test', [base.creating('t.py', 't\n')], ['beside']),
    setOf('other', 'lint', [base.editing('b.py', ['1', '2'])]),
  ])
  const gate = { command: 'npm test', verdict: 'passed' as const, tests: 3, failing: [], failingTotal: 0 }
  const report = { ...gate, runs: 3, outputs: [], durationMs: 1, leftOut: 0 }
  const files = [...source.composition.files]
  const composed = { v: 1 as const, runId: 'r', of: 'accepted' as const, files, conflicts: [], gate: report }
  const whole = { sets: source.sets, composition: composed }
  const { composition } = withoutSets(whole, ['one'])
  expect(composition.files.map(({ path }) => path)).toEqual(['b.py'])
  expect(composition.gate).toMatchObject({ verdict: 'unproved', reason: gateOfMore })
  expect(withoutSets(whole, []).composition).toBe(whole.composition)
})
