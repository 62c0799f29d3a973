import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { type LogFields, silentLog } from '#platform/log.ts'
import { aNewRun } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { housekeepingRound, runHousekeeping, type HousekeepingDeps } from './run-housekeeping.ts'
import { openTestStores, storeRun, type TestStores } from './stored-run.fixture.ts'

let stores: TestStores
let lines: [string, LogFields | undefined][]
beforeEach(async () => {
  stores = await openTestStores()
  lines = []
})
afterEach(() => stores.close())

const never = new AbortController().signal
const files = { 'a.py': 'a = 1\n' }

function deps(over: Partial<HousekeepingDeps> = {}): HousekeepingDeps {
  const note = (message: string, fields?: LogFields) => void lines.push([message, fields])
  const { ledger, retention, objects } = stores
  const log = { ...silentLog, info: note, warn: note }
  return { ledger, retention, objects, graceMs: 86_400_000, retentionMs: 0, log, ...over }
}

describe('the housekeeping', () => {
  it('leaves a run that ended not long ago', async () => {
    const run = await storeRun(stores, files)
    await stores.age()
    await housekeepingRound(deps({ retentionMs: 3_600_000 }), never)
    expect((await stores.ledger.getRun(run.runId)).status).toBe('completed')
    expect(lines).toEqual([['housekeeping', expect.objectContaining({ runs_forgotten: 0 })]])
  })

  it('forgets a run and deletes its objects in one round, in one line of the log, and collects again only after an hour', async () => {
    const stored = await storeRun(stores, files)
    const count = (await stores.keys()).length
    await stores.age()
    await housekeepingRound(deps(), never)
    await expect(stores.ledger.getRun(stored.runId)).rejects.toMatchObject({ code: 'RUN_001' })
    expect(await stores.keys()).toEqual(['ledger.json'])
    const objects = { deleted: count, deleted_bytes: expect.any(Number), kept: 1, young: 0, unknown: 0 }
    await housekeepingRound(deps(), never)
    await storeRun(stores, files)
    await housekeepingRound(deps(), never)
    expect(lines).toEqual([
      ['housekeeping', { runs_forgotten: 1, archive_steps: 0, objects }],
      ['housekeeping', { runs_forgotten: 1, archive_steps: 0 }],
    ])
  })

  it('is done by one process at a time, the forgetting by all', async () => {
    const runs = [await storeRun(stores, files), await storeRun(stores, files)]
    await stores.age()
    await Promise.all([housekeepingRound(deps(), never), housekeepingRound(deps(), never)])
    for (const { runId } of runs) await expect(stores.ledger.getRun(runId)).rejects.toMatchObject({ code: 'RUN_001' })
    expect(lines.filter(([, fields]) => fields?.['objects'] !== undefined)).toHaveLength(1)
    expect(await stores.keys()).toEqual(['ledger.json'])
  })

  it('keeps a run that was reopened since it ended', async () => {
    const former = await storeRun(stores, files)
    const run = await stores.ledger.getRun(former.runId)
    const origin = { kind: 'api', id: 'q1' } as const
    await stores.ledger.reopen(run, { wanted: {}, origin, command: 'retry' })
    await stores.age()
    await housekeepingRound(deps(), never)
    expect((await stores.ledger.getRun(former.runId)).status).toBe('running')
    expect(await stores.ledger.activeRuns()).toMatchObject([{ runId: former.runId }])
  })

  it('goes on with the next run when one is of a newer version', async () => {
    const runs = [await storeRun(stores, files), await storeRun(stores, files)]
    const { forgetRun } = stores.retention
    const newer = new AppError('RUN_005', 'made by a newer version')
    const retention = {
      ...stores.retention,
      forgetRun: async (run: { projectId: string; runId: string }) => {
        if (run.runId === runs[0]?.runId) throw newer
        return forgetRun(run)
      },
    }
    await housekeepingRound(deps({ retention }), never)
    expect((await stores.ledger.getRun(runs[0]?.runId ?? '')).status).toBe('completed')
    await expect(stores.ledger.getRun(runs[1]?.runId ?? '')).rejects.toMatchObject({ code: 'RUN_001' })
  })

  it('drops an entry whose run never came to be', async () => {
    const { projectId, runId } = aNewRun({ projectId: stores.project })
    await stores.ledger.deactivate({ projectId, runId })
    await housekeepingRound(deps(), never)
    expect(lines[0]).toMatchObject(['housekeeping', { runs_forgotten: 1 }])
    expect(await stores.retention.endedRuns({ agedMs: 0, first: 0, limit: 10 })).toEqual([])
  })

  it('goes on by itself, outlives a store that is away, and stops in the middle of a round', async () => {
    let failures = 0
    const retention = {
      ...stores.retention,
      endedRuns: async (): Promise<never> => {
        failures += 1
        throw new AppError('STORE_001', 'away')
      },
    }
    const stopFailing = runHousekeeping(deps({ retention }), 5)
    await until(() => failures, { holds: (count) => count > 1 })
    await stopFailing()
    expect(lines[0]).toMatchObject(['housekeeping was cut short', { error: { code: 'STORE_001' } }])

    await storeRun(stores, files)
    let listing = false
    const objects: ObjectStore = {
      ...stores.objects,
      async *list(prefix, signal) {
        yield* stores.objects.list(prefix)
        listing = true
        await until(() => signal?.aborted)
        signal?.throwIfAborted()
      },
    }
    const stop = runHousekeeping(deps({ objects }), 5)
    await until(() => listing)
    await stop()
  })
})
