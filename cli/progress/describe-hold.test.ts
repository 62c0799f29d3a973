import { expect, it } from 'vitest'
import { aRun } from '../answers.fixture.ts'
import { holdLine } from './describe-hold.ts'
import { emptyProgress } from './progress-state.ts'

const going = { ...emptyProgress('r1'), seen: aRun({ current_step: 'waits until a worker composes its patch' }) }

it('says after half a minute what holds a run, unless it has ended or waits for something', () => {
  const said = 'nothing has moved for 42.0 s: the run waits until a worker composes its patch'
  expect(holdLine(going, 42_800)).toBe(said)
  expect(holdLine({ ...going, settingUp: 'npm ci' }, 42_800)).toMatch(/: its setup runs: npm ci$/)
  expect(holdLine(going, 29_999)).toBeUndefined()
  expect(holdLine({ ...going, status: 'completed' }, 42_800)).toBeUndefined()
  expect(holdLine({ ...going, seen: undefined }, 42_800)).toBeUndefined()
  const waits = aRun({ waiting_for: [{ kind: 'answer', questions: 1 }] })
  expect(holdLine({ ...going, seen: waits }, 42_800)).toBeUndefined()
})
