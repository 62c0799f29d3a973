import { draws, fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import type { PlannedOperation } from '#domain/operation.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { nameOf } from './ledger-model.fixture.ts'
import { Act, type World } from './model-steps.fixture.ts'
import { compare, finish, openWorlds, planAll, take, type Step } from './model-world.fixture.ts'
import { operationTransitions } from './operation-transitions.fixture.ts'
import type { PlanSlice } from './plan.ts'

const worlds = useOpened(openWorlds)

/** Operations in plan order: which earlier ones each waits for, which of them only to end, and whether a slice begins with it. */
const plans = fc.array(
  fc.record({
    befores: fc.array(fc.nat({ max: 6 }), { maxLength: 3 }),
    anys: fc.array(fc.nat({ max: 6 }), { maxLength: 2 }),
    priority: fc.nat({ max: 2 }),
    begins: fc.boolean(),
  }),
  { minLength: 1, maxLength: 7 },
)

function slicesOf(
  drawn: readonly { befores: number[]; anys: number[]; priority: number; begins: boolean }[],
): PlanSlice[] {
  const planned: PlannedOperation[] = []
  const slices: PlannedOperation[][] = [[]]
  for (const [index, { befores, anys, priority, begins }] of drawn.entries()) {
    const after = [...new Set(befores)].flatMap((before) => planned[before] ?? [])
    const onlyToEnd = anys.filter((before) => !befores.includes(before))
    const afterAny = [...new Set(onlyToEnd)].flatMap((before) => planned[before]?.operationId ?? [])
    const operation = aPlannedOperation(`f${index}`, { priority, afterAny }, after)
    planned.push(operation)
    if (begins && index > 0) slices.push([operation])
    else slices.at(-1)?.push(operation)
  }
  return slices.map((operations, slice) => ({ slice, operations, last: slice === slices.length - 1 }))
}

const sent: fc.Arbitrary<Step['sent']> = fc.oneof(
  { weight: 6, arbitrary: fc.constant('once' as const) },
  { weight: 2, arbitrary: fc.constant('twice' as const) },
  { weight: 2, arbitrary: fc.record({ lost: fc.nat({ max: 2 }) }) },
)

const frequent: readonly Act[] = ['dispatch', 'dispatch', 'claim', 'claim', 'claim', 'settle', 'leaseEnds', 'leaseEnds']
const rarer: readonly Act[] = [
  'plan',
  'move',
  'append',
  'release',
  'suspend',
  'suspend',
  'resume',
  'awaitTool',
  'awaitTool',
  'sweep',
  'sweep',
  'requeue',
]
const rarest: readonly Act[] = [
  'relay',
  'planAgain',
  'planAgain',
  'planAgain',
  'restEnds',
  'waitEnds',
  'setAway',
  'setAway',
  'blockHeld',
  'setBudget',
  'setBudget',
  'noteProject',
  'noteProject',
  'end',
  'end',
  'reopen',
]
const anAct: fc.Arbitrary<Act> = fc.oneof(
  { weight: 70, arbitrary: fc.constantFrom(...frequent) },
  { weight: 30, arbitrary: fc.constantFrom(...rarer, ...rarer, ...rarest) },
  { weight: 3, arbitrary: fc.constantFrom<Act[]>('endSlice', 'cancel', 'abandon') },
)

type Command = fc.AsyncCommand<World, World>
const commands = fc.record({ act: anAct, pick: fc.nat({ max: 1_000 }), sent }).map((step): Command => ({
  check: () => true,
  run: (world) => take(world, step),
  toString: () => `${step.act}(${step.pick}, ${JSON.stringify(step.sent)})`,
}))

const policies = fc.constantFrom('skip_downstream', 'continue', 'stop_run')

/** What is planned once more of a run in review, by a composer or, after an even pick, after its end. */
const repeats = fc.array(fc.nat({ max: 15 }), { maxLength: 2 })

/** Most examples start where operations can be dispatched. */
const begun = fc.nat({ max: 9 }).map((drawn) => drawn < 8)

/**
 * Plays examples again: `fc.assert(property, { seed, path })` with what a failure printed, and `replayPath` of the same
 * print as an option of `fc.commands`.
 */
const sequences = fc.commands([commands], { maxCommands: 120, size: 'max' })

/**
 * For a run with one operation and another that waits for it: commands and, after the colon, what they pick (0 if not
 * given). `dispatch:3` and `dispatch:7` take everything, as different commands.
 */
const scenarios = [
  'dispatch:3 claim settle:0 dispatch:7 claim:1 settle:1',
  'dispatch:3 claim settle:2',
  'dispatch:3 claim settle:3',
  'dispatch:3 claim settle:4',
  'dispatch:3 claim settle:6',
  'dispatch:3 claim settle:0 dispatch:7 claim:1 settle:1 planAgain dispatch:3 claim:2 settle:2',
  'dispatch:3 claim settle:0 dispatch:7 claim:1 settle:1 planAgain dispatch:3 claim:2 settle:2 planAgain:5 planAgain:4',
  'dispatch:3 claim settle:2 end reopen:1 plan:2 move move dispatch:7 claim:1 settle:1 end reopen:2',
  'setAway dispatch:3 setAway:1 dispatch:7 dispatch:3 claim settle:0',
  'setAway dispatch:3 blockHeld',
  'cancel endSlice',
  'dispatch:3 cancel endSlice',
  'dispatch:3 requeue cancel claim:1',
  'dispatch:3 claim cancel release:1',
  'dispatch:3 claim cancel:1 endSlice append:1 settle:1 dispatch:7 endSlice',
  'dispatch:3 claim cancel:1 append:1 cancel append:1 settle:1',
  'dispatch:3 claim cancel:1 release:1',
  'dispatch:3 claim cancel leaseEnds sweep',
  'dispatch:3 claim leaseEnds claim:1 sweep dispatch:7 claim:1 leaseEnds sweep dispatch:3 claim:2 release:5 dispatch:7',
  'dispatch:3 claim suspend resume dispatch:7 claim:1 suspend:1 resume:1 dispatch:3 claim:2 settle:5',
  'dispatch:3 claim suspend waitEnds sweep settle:1',
  'dispatch:3 claim suspend cancel endSlice settle:1',
  'dispatch:3 claim cancel suspend:1',
  'dispatch:3 claim suspend:3 awaitTool awaitTool:1 dispatch:7 claim:1 suspend:3 waitEnds awaitTool sweep settle:1',
  'dispatch:3 claim suspend:3 waitEnds sweep dispatch:7 claim:1 suspend:7 waitEnds sweep dispatch:3 claim:2 suspend:11 waitEnds sweep',
  'dispatch:3 requeue claim:1 leaseEnds sweep dispatch:7 claim:2 leaseEnds sweep dispatch:3 claim:3 leaseEnds sweep',
]

async function play(scenario: string): Promise<World> {
  const root = aPlannedOperation('root')
  const operations = [root, aPlannedOperation('child', {}, [root])]
  const world = await worlds.begin('skip_downstream', [{ slice: 0, operations, last: true }])
  await planAll(world)
  for (const word of scenario.split(' ')) {
    const [name = '', pick = '0'] = word.split(':')
    await take(world, { act: Act.parse(name), pick: Number(pick), sent: 'once' })
  }
  await compare(world)
  return world
}

/** Enough for all examples. If shrinking a failure takes longer, the example found by then is reported. */
const timeLimitMs = 50_000

describe('the ledger beside its model', () => {
  it('answers and keeps the same in every order of commands, repeats, lost answers and lost workers', async () => {
    const drawn = [policies, plans, begun, sequences, repeats] as const
    const property = fc.asyncProperty(...drawn, async (policy, plan, isBegun, sequence, picks) => {
      const world = await worlds.begin(policy, slicesOf(plan))
      if (isBegun) await planAll(world)
      await fc.asyncModelRun(() => ({ model: world, real: world }), sequence)
      await compare(world)
      await finish(world)
      await compare(world)
      expect(world.model.stop !== null || world.model.phase === 'review').toBe(true)
      for (const pick of picks) {
        const acts = pick % 2 === 0 ? (['end', 'reopen', 'plan'] as const) : (['planAgain'] as const)
        for (const act of acts) await take(world, { act, pick, sent: 'once' })
        await finish(world)
        await compare(world)
      }
    })
    await fc.assert(property, { numRuns: draws(60), endOnFailure: true, interruptAfterTimeLimit: timeLimitMs })
  }, 90_000)

  it('takes every way the state diagram draws', async () => {
    const taken = new Set<string>()
    for (const scenario of scenarios) {
      const { model } = await play(scenario)
      for (const name of model.taken) taken.add(name)
    }
    const drawn = operationTransitions.flatMap((one) => one.by.map((by) => nameOf(one, by)))
    expect([...taken].toSorted()).toEqual(drawn.toSorted())
  })
})
