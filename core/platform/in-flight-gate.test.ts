import { describe, expect, it } from 'vitest'
import { openInFlightGate } from './in-flight-gate.ts'

const never = new AbortController().signal

describe('openInFlightGate', () => {
  it('admits up to its limit, then whoever came first', async () => {
    const gate = openInFlightGate(2)
    const [leave] = [await gate.enter(never), await gate.enter(never)]
    expect(gate.free()).toBe(0)
    const admitted: string[] = []
    const third = gate.enter(never).finally(() => admitted.push('third'))
    const fourth = gate.enter(never).finally(() => admitted.push('fourth'))
    leave()
    const leaveThird = await third
    expect(admitted).toEqual(['third'])
    leaveThird()
    await fourth
    expect(admitted).toEqual(['third', 'fourth'])
    expect(gate.free()).toBe(0)
  })

  it('frees the place when nobody waits', async () => {
    const gate = openInFlightGate(1)
    const leave = await gate.enter(never)
    leave()
    expect(gate.free()).toBe(1)
  })

  it('lets the aborted leave the line with their reason, losing no place', async () => {
    const gate = openInFlightGate(1)
    const leave = await gate.enter(never)
    const abort = new AbortController()
    const reason = new Error('left')
    const waiting = gate.enter(abort.signal)
    abort.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(gate.enter(abort.signal)).rejects.toBe(reason)
    leave()
    expect(gate.free()).toBe(1)
  })

  it('keeps no place for one that is admitted and aborted afterwards', async () => {
    const gate = openInFlightGate(1)
    const leave = await gate.enter(never)
    const abort = new AbortController()
    const waiting = gate.enter(abort.signal)
    leave()
    abort.abort(new Error('late'))
    const leaveLate = await waiting
    leaveLate()
    expect(gate.free()).toBe(1)
  })
})
