import { expect, it } from 'vitest'
import { openLoopThrottle } from './limit-concurrency.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

it.for([
  [1, [[1], [1, 2], [1, 2, 3]]],
  [
    2,
    [
      [1, 2],
      [1, 2, 3],
    ],
  ],
] as const)('lets callers go on in their order, %i in each turn of the event loop', async ([perTurn, turns]) => {
  const throttle = openLoopThrottle(perTurn)
  const passed: number[] = []
  const all = Promise.all([1, 2, 3].map((caller) => throttle.pass().then(() => passed.push(caller))))
  expect(passed).toEqual([])
  const seen: number[][] = []
  while (passed.length < 3) {
    await nextTurn()
    seen.push([...passed])
  }
  await all
  expect(seen).toEqual(turns)
})

it('lets those through that come while it is in use, and after it was', async () => {
  const throttle = openLoopThrottle(1)
  const passed: string[] = []
  const first = throttle.pass().then(() => passed.push('first'))
  await Promise.all([first, first.then(() => throttle.pass()).then(() => passed.push('second'))])
  await throttle.pass()
  expect(passed).toEqual(['first', 'second'])
})
