import { expect, it } from 'vitest'
import { openLedger } from '#store/ledger/ledger.ts'
import { segmentLength } from '#store/ledger/stored-events.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { silentLog } from '#platform/log.ts'
import { anEvent, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'
import { until } from '#testing/until.ts'
import { runArchiver } from './archive-events.ts'

it('keeps a long run within its limit in Redis while it goes on, and every event can be read', async () => {
  const test = await testLedger()
  const store = await testObjects()
  const { namespace, redis } = test
  const ledger = openLedger(redis, { namespace, archive: openEventSegments(store.objects) })
  const runId = await test.executing([aPlannedOperation('root')])
  const stop = runArchiver({ ledger, log: silentLog })
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  const events = Array.from({ length: 500 }, () => anEvent())
  for (let n = 1; n <= 25; n++) await ledger.append(attempt, n, { events })
  const { seq } = await ledger.getRun(runId)
  await until(() => redis.xlen(runKeys(namespace, runId).events), {
    holds: (length) => length < 10_000 + 2 * segmentLength,
  })
  const seen: number[] = []
  for (let page = await ledger.readEvents(runId, { after: 0, limit: 1_000 }); page.length > 0;) {
    seen.push(...page.map((event) => event.seq))
    page = await ledger.readEvents(runId, { after: seen.length, limit: 1_000 })
  }
  expect(seen).toEqual(Array.from({ length: seq }, (_, at) => at + 1))
  await stop()
  await store.close()
  await test.close()
})
