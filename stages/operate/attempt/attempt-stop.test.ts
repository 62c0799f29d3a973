import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { until } from '#testing/until.ts'
import { openAttemptStop } from './attempt-stop.ts'

test('the first source that is aborted gives the reason, also when it was so before', () => {
  const [one, another] = [new AbortController(), new AbortController()]
  const stop = openAttemptStop([one.signal, another.signal], 60_000)
  another.abort('cancelled')
  one.abort('drained')
  expect(stop).toMatchObject({ isTimeUp: false, signal: { aborted: true, reason: 'cancelled' } })
  expect(openAttemptStop([one.signal], 60_000).signal.reason).toBe('drained')
  stop.release()
})

test('a timeout is distinguished from a stop', async () => {
  const stop = openAttemptStop([new AbortController().signal], 5)
  await until(() => stop.signal.aborted)
  expect(stop.isTimeUp).toBe(true)
  const stopped = new AbortController()
  stopped.abort('drained')
  const before = openAttemptStop([stopped.signal], 5)
  await until(() => before.signal.aborted)
  expect(before).toMatchObject({ isTimeUp: false, signal: { reason: 'drained' } })
  before.release()
})

test('an attempt that has ended leaves nothing at its sources', () => {
  const source = new AbortController().signal
  const stop = openAttemptStop([source], 60_000)
  expect(getEventListeners(source, 'abort')).toHaveLength(1)
  stop.release()
  expect(getEventListeners(source, 'abort')).toHaveLength(0)
})

test('time does not run while no server works on the request, and a try in vain does not count', async () => {
  const [held, counted] = [openAttemptStop([], 20), openAttemptStop([], 60)]
  held.progress.queued()
  held.progress.sent()
  held.progress.failed()
  await until(() => counted.signal.aborted)
  expect(held.signal.aborted).toBe(false)
  expect(held.waitedMs()).toBeGreaterThan(0)
  held.progress.sent()
  held.answered()
  await until(() => held.signal.aborted)
  expect(held.isTimeUp).toBe(true)
})

test('an attempt that has ended is not timed again by an answer that comes late', async () => {
  const [ended, timed] = [openAttemptStop([], 20), openAttemptStop([], 60)]
  ended.progress.queued()
  ended.release()
  ended.progress.sent()
  await until(() => timed.signal.aborted)
  expect(ended).toMatchObject({ isTimeUp: false, signal: { aborted: false } })
})
