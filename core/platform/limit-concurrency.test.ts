import { describe, expect, it } from 'vitest'
import { openSemaphore } from './limit-concurrency.ts'

const never = new AbortController().signal

describe('openInFlightGate', () => {
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

  it('frees the place when nobody waits', async () => {
    const gate = openSemaphore(1)
    const leave = await gate.acquire(never)
    leave()
    expect(gate.free()).toBe(1)
  })

  it('lets the aborted leave the line with their reason, losing no place', async () => {
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
