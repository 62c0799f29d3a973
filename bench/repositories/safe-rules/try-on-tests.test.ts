import { expect, it } from 'vitest'
import { findCulprits } from './try-on-tests.ts'

const numbers = Array.from({ length: 50 }, (_, at) => at)

it('finds each rule that does harm alone, and asks little', async () => {
  let asked = 0
  const culprits = await findCulprits(numbers, async (some) => {
    asked++
    return !some.some((one) => one === 7 || one === 31)
  })
  expect(culprits).toEqual([7, 31])
  expect(asked).toBeLessThan(30)
})

it('asks once where nothing does harm', async () => {
  let asked = 0
  expect(await findCulprits(numbers, async () => ++asked > 0)).toEqual([])
  expect(asked).toBe(1)
})

it('blames nobody for a harm that only two rules together do', async () => {
  const passes = async (some: readonly number[]) => !(some.includes(0) && some.includes(49))
  expect(await findCulprits(numbers, passes)).toEqual([])
})
