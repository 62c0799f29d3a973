import { expect, test } from 'vitest'
import { openLoadMeter } from './load-meter.ts'

test('requests in flight add up over time, and full load is when all slots are taken', () => {
  let atMs = 0
  const meter = openLoadMeter(2, () => atMs)
  meter.enter(true)
  atMs = 10
  meter.enter(true)
  atMs = 30
  meter.leave()
  meter.enter(false)
  atMs = 40
  meter.leave()
  meter.leave()
  expect(meter.take()).toEqual({
    requests: 3,
    mostInFlight: 2,
    first: { atMs: 0, busyMs: 0 },
    full: { atMs: 10, busyMs: 10 },
    lastStart: { atMs: 10, busyMs: 10 },
    last: { atMs: 40, busyMs: 70 },
  })
  expect(meter.take()).toEqual({ requests: 0, mostInFlight: 0 })
})
