import { describe, expect, it } from 'vitest'
import { oneAtATime, openLoopThrottle, openSemaphore, workAhead } from './limit-concurrency.ts'

const never = new AbortController().signal

describe('openSemaphore', () => {
  it('admits up to its limit, then whoever came first', async () => {
    const gate = openSemaphore(2)
    const [leave] = [await gate.acquire(never), await gate.acquire(never)]
    expect(gate.free()).toBe(0)
    const admitted: string[] = []
    const third = gate.acquire(never).finally(() => admitted.push('third'))
    const fourth = gate.acquire(never).finally(() => admitted.push('fourth'))
    leave()
    const leaveThird = await third
    expect(admitted).toEqual(['third'])
    leaveThird()
    await fourth
    expect(admitted).toEqual(['third', 'fourth'])
    expect(gate.free()).toBe(0)
  })

  it('gives the aborted their reason, and loses no permit', async () => {
    const gate = openSemaphore(1)
    const leave = await gate.acquire(never)
    const abort = new AbortController()
    const reason = new Error('left')
    const waiting = gate.acquire(abort.signal)
    abort.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(gate.acquire(abort.signal)).rejects.toBe(reason)
    leave()
    expect(gate.free()).toBe(1)
  })

  it('keeps no place for one that is admitted and aborted afterwards', async () => {
    const gate = openSemaphore(1)
    const leave = await gate.acquire(never)
    const abort = new AbortController()
    const waiting = gate.acquire(abort.signal)
    leave()
    abort.abort(new Error('late'))
    const leaveLate = await waiting
    leaveLate()
    expect(gate.free()).toBe(1)
  })
})

describe('oneAtATime', () => {
  it('runs once more for what changed while it ran, and never twice at once', async () => {
    const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
    let [begun, ended] = [0, 0]
    const run = oneAtATime(async () => {
      expect(ended).toBe(begun)
      await gates[begun++]?.promise
      ended += 1
    })
    const first = run()
    const both = Promise.all([run(), run()])
    gates[0]?.resolve()
    gates[1]?.resolve()
    await Promise.all([first, both])
    expect(ended).toBe(2)
    gates[2]?.resolve()
    await run()
    expect(ended).toBe(3)
  })

  it('goes on after a run that failed', async () => {
    let runs = 0
    const run = oneAtATime(async () => {
      if (++runs === 1) throw new Error('the first fails')
    })
    await expect(Promise.all([run(), run()])).rejects.toThrow('the first fails')
    await run()
    expect(runs).toBe(2)
  })
})

describe('work ahead of its caller', () => {
  it('comes in order, with so many more begun and no others', async () => {
    let begun = 0
    const seen: [item: number, begun: number][] = []
    const work = async (item: number) => {
      begun += 1
      if (item % 2 === 0) await new Promise(setImmediate)
      return item
    }
    for await (const item of workAhead([0, 1, 2, 3, 4, 5], 2, work)) seen.push([item, begun])
    expect(seen.map(([item]) => item)).toEqual([0, 1, 2, 3, 4, 5])
    expect(seen.map(([item, count]) => count - item)).toEqual([3, 3, 3, 3, 2, 1])
  })

  it('ends with an error at its item, and leaves no other unhandled', async () => {
    const taken: number[] = []
    const work = async (item: number) => {
      if (item >= 2) throw new Error(`no ${item}`)
      return item
    }
    const all = async () => {
      for await (const item of workAhead([0, 1, 2, 3], 3, work)) taken.push(item)
    }
    await expect(all()).rejects.toThrow('no 2')
    expect(taken).toEqual([0, 1])
  })
})

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
