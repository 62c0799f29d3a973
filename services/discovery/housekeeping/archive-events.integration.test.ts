import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { openLedger, type Ledger } from '#store/ledger/ledger.ts'
import { openRetention } from '#store/ledger/retention.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { anEvent, anOutcome, aPlannedOperation, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import { archiveEndedEvents, type ArchiveEndedDeps } from './archive-events.ts'

let test: TestLedger
let store: TestObjects
let ledger: Ledger
let warnings: unknown[]
beforeAll(async () => {
  test = await testLedger()
  store = await testObjects()
  ledger = openLedger(test.redis, { namespace: test.namespace, archive: openEventSegments(store.objects) })
})
afterAll(async () => {
  await test.close()
  await store.close()
})
beforeEach(async () => {
  warnings = []
  const retention = openRetention(test.redis, test.namespace)
  const runs = await retention.endedRuns({ agedMs: 0, first: 0, limit: 1_000 })
  for (const run of runs) await retention.forgetRun(run)
})

const never = new AbortController().signal
const archive = (over: Partial<ArchiveEndedDeps> = {}) => {
  const log = { warn: (_message: string, fields?: object) => void warnings.push(fields) }
  const retention = openRetention(test.redis, test.namespace)
  return archiveEndedEvents({ ledger, retention, log, followedMs: 0, ...over }, never)
}
const inStream = (runId: RunId) => test.redis.xlen(runKeys(test.namespace, runId).events)

/** A run with `count` events that has ended and is no longer in the index of active runs. */
async function endedRun(count: number): Promise<RunId> {
  const runId = await test.executing([aPlannedOperation('only')])
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  const { seq, projectId } = await ledger.getRun(runId)
  // Two come with the ends of the operation and of the run.
  for (let left = count - seq - 2, n = 1; left > 0; left -= 500, n += 1) {
    const events = Array.from({ length: Math.min(500, left) }, () => anEvent())
    await ledger.append(attempt, n, { events })
  }
  await ledger.settle(attempt, 100, { outcome: anOutcome(), events: [] })
  const events = [anEvent({ event: 'run.completed', phase: 'review' })]
  await ledger.move(runId, { from: [{ status: 'running' }], to: { status: 'completed' }, command: 'end', events })
  await ledger.deactivate({ projectId, runId })
  return runId
}

it('moves every whole segment of the ended runs, of which every event can still be read', async () => {
  const [long, short] = [await endedRun(7_400), await endedRun(900)]
  const active = await test.executing([aPlannedOperation('other')])
  expect(await archive()).toBe(7)
  expect([await inStream(long), await inStream(short)]).toEqual([400, 900])
  expect(await inStream(active)).toBeGreaterThan(0)
  expect(await ledger.verify(long)).toEqual({ violations: [], events: 7_400, operations: 1 })
  expect(await archive()).toBe(0)
})

it('moves all that its attempts have said, however short the run was', async () => {
  const runId = await endedRun(100)
  const { past, talk } = runKeys(test.namespace, runId)
  const names = Array.from({ length: 700 }, (_, at) => `o${at}:1`)
  for (const name of names) await test.redis.multi().rpush(talk(name), '{"a":1,"j":{}}').sadd(past, name).exec()
  await archive()
  expect(await test.redis.exists(past, ...names.map(talk))).toBe(0)
})

it('leaves a run that ended just now to those who follow it', async () => {
  const runId = await endedRun(1_200)
  expect(await archive({ followedMs: 60_000 })).toBe(0)
  expect(await inStream(runId)).toBe(1_200)
})

it('does no more than a bounded part at a time, and the rest the next time', async () => {
  const runs = [await endedRun(2_100), await endedRun(2_100)]
  const lengths = async () => Promise.all(runs.map(inStream))
  expect(await archive({ maxSegments: 1 })).toBe(2)
  expect(await lengths()).toEqual([100, 2_100])
  expect(await archive({ maxSegments: 1 })).toBe(2)
  expect(await lengths()).toEqual([100, 100])
})

it('goes on with the next run when one cannot be moved, but not without a store', async () => {
  const [bad, good] = [await endedRun(1_100), await endedRun(1_100)]
  const failing = (error: Error): Pick<Ledger, 'archiveEvents'> => ({
    archiveEvents: async (runId, options) => {
      if (runId === bad) throw error
      return ledger.archiveEvents(runId, options)
    },
  })
  await expect(archive({ ledger: failing(new AppError('STORE_002', 'away')) })).rejects.toThrow('away')
  expect(await inStream(good)).toBe(1_100)
  const damaged = new Error('damaged')
  expect(await archive({ ledger: failing(damaged) })).toBe(1)
  expect([await inStream(bad), await inStream(good)]).toEqual([1_100, 100])
  expect(warnings).toEqual([{ run_id: bad, error: damaged }])
  expect(await archive({ ledger: failing(new AppError('RUN_005', 'newer')) })).toBe(0)
  expect(warnings).toHaveLength(1)
})
