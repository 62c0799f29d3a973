import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { runKeys } from '#ledger/keys.ts'
import { aPlannedOperation } from '#testing/factories.ts'
import { testLedger, type TestLedger } from '#testing/ledger.ts'
import { dispatchReady, type DispatchDeps } from './dispatch-ready.ts'

let test: TestLedger
beforeAll(async () => {
  test = await testLedger()
})
afterAll(() => test.close())

const operations = Array.from({ length: 20 }, (_, at) => aPlannedOperation(`f${at}`))

/** The dispatcher's world with a queue that only notes how many jobs each run was given. */
function dispatcher() {
  const given = new Map<RunId, number>()
  const warnings: unknown[] = []
  const deps: DispatchDeps = {
    ledger: test.ledger,
    producer: {
      async addMany(_queue, jobs) {
        for (const { payload } of jobs) given.set(payload.run_id, (given.get(payload.run_id) ?? 0) + 1)
      },
    },
    stageJobs: { ensure: async () => {} },
    liveSlots: async () => 4,
    aside: new Map(),
    log: { warn: (_message, fields) => void warnings.push(fields?.['run_id']) },
  }
  return { deps, given, warnings }
}

it('shares the window among the runs, and one that cannot be attended to holds up no other', async () => {
  const broken = await test.executing(operations)
  await test.redis.hset(runKeys(test.namespace, broken).run, 'schema', '99')
  const [first, second] = [await test.executing(operations), await test.executing(operations)]
  const { deps, given, warnings } = dispatcher()
  expect(await dispatchReady(deps)).toBe(3)
  await dispatchReady(deps)
  // A window of twice four slots, split among three runs.
  expect(given).toEqual(
    new Map([
      [first, 2],
      [second, 2],
    ]),
  )
  expect(warnings).toEqual([broken])
})
