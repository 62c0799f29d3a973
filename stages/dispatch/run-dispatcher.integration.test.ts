import { expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { silentLog } from '#platform/log.ts'
import { newToken } from '#domain/ids.ts'
import { openTestQueue } from '#store/queues/test-queue.fixture.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openDispatcher } from './dispatcher.fixture.ts'
import { dispatchStateOf, enqueueReady } from './enqueue-ready.ts'
import { runDispatcher, windowOf } from './run-dispatcher.ts'

const test = useOpened(testLedger)

/** A dispatcher whose store is away for its first `failing` rounds; `rounds` counts those that succeeded. */
function dispatcher(failing: number) {
  const seen = { rounds: 0 }
  let left = failing
  const { deps } = openDispatcher(test)
  const stop = runDispatcher({
    ...deps,
    async fleet() {
      if (left-- > 0) throw new AppError('STORE_001', 'the store is away')
      seen.rounds += 1
      return deps.fleet()
    },
    log: silentLog,
  })
  return { stop, seen }
}

it('takes a silent worker’s operation back, but not at once after the store was away', async () => {
  const runId = await test.executing([aPlannedOperation('root')])
  await test.claimReady(runId)
  for (const id of await test.redis.zrange(runKeys(test.namespace, runId).leases, '0', '-1')) {
    await test.redis.zadd(runKeys(test.namespace, runId).leases, 1, id)
  }
  const patient = dispatcher(1)
  await until(() => patient.seen, { holds: ({ rounds }) => rounds >= 20 })
  expect(await test.ledger.getRun(runId)).toMatchObject({ counts: { running: 1 } })
  await patient.stop()
  const other = dispatcher(0)
  await until(() => test.ledger.getOperation(runId, aPlannedOperation('root').operationId), {
    holds: ({ lost }) => lost === 1,
  })
  await other.stop()
})

it('enqueues what a dispatch whose answer was lost has taken, also when nothing of the window is left for the run', async () => {
  const { producer, redis, key, close } = await openTestQueue()
  const runId = await test.executing([aPlannedOperation('a'), aPlannedOperation('b')])
  const state = dispatchStateOf(runId, new Map())
  state.command = newToken()
  await test.ledger.dispatch(runId, 2, { command: state.command, window: 2 })
  const none = { share: 0, window: { size: 8, underWay: 2, operations: 10 } }
  await enqueueReady(await test.ledger.getRun(runId), none, state, { ledger: test.ledger, producer })
  expect(state.unsent).toEqual([])
  expect(await redis.zcard(key('prioritized'))).toBe(2)
  await close()
})

it('opens as many operations as the models have room for, and leaves slots for runs that begin', () => {
  // Four workers with 64 slots before a server that takes 16 requests.
  expect(windowOf({ operations: 4 * 256, capacity: 16 }, 0)).toBe(48)
  expect(windowOf({ operations: 32, capacity: 64 }, 0)).toBe(24)
  // Before workers have said how much their models can take.
  expect(windowOf({ operations: 32, capacity: undefined }, 0)).toBe(24)
  // What ends between two rounds is queued in addition.
  expect(windowOf({ operations: 32, capacity: 64 }, 5)).toBe(34)
  expect(windowOf({ operations: 32, capacity: 64 }, 500)).toBe(48)
  // Operations that need no model move in any case.
  expect(windowOf({ operations: 32, capacity: 0 }, 0)).toBe(8)
  expect(windowOf({ operations: 0, capacity: undefined }, 0)).toBe(8)
})
