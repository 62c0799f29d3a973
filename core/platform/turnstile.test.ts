import { expect, it } from 'vitest'
import { openTurnstile } from './turnstile.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

it('lets callers go on in their order, one in each turn of the event loop', async () => {
  const turnstile = openTurnstile()
  const passed: number[] = []
  const all = Promise.all([1, 2, 3].map((caller) => turnstile.pass().then(() => passed.push(caller))))
  expect(passed).toEqual([])
  const seen: number[][] = []
  while (passed.length < 3) {
    await nextTurn()
    seen.push([...passed])
  }
  await all
  expect(seen).toEqual([[1], [1, 2], [1, 2, 3]])
})

it('lets those through that come while it is in use, and after it was', async () => {
  const turnstile = openTurnstile()
  const passed: string[] = []
  const first = turnstile.pass().then(() => passed.push('first'))
  await Promise.all([first, first.then(() => turnstile.pass()).then(() => passed.push('second'))])
  await turnstile.pass()
  expect(passed).toEqual(['first', 'second'])
})
