import { expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { silentLog } from '#platform/log.ts'
import { openNotices } from '#store/ledger/notices.ts'
import { openRetention } from '#store/ledger/retention.ts'
import { aNewRun, aPlannedOperation, endRun, testLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { runTeller, type TellerDeps } from './tell-events.ts'

const test = useOpened(testLedger)

/** A loop of a process of its own. */
function teller(retention: TellerDeps['retention'] = openRetention(test.redis, test.namespace)): () => Promise<void> {
  const { ledger, namespace, redisUrl } = test
  const notices = openNotices({ redisUrl, namespace, log: silentLog })
  const told = { most: 1_000, keepMs: 3_600_000 }
  const stop = runTeller({ ledger, retention, notices, told, log: silentLog })
  return async () => {
    await stop()
    notices.close()
  }
}

async function lastTold(runId: RunId): Promise<number[]> {
  const { ranges } = await test.ledger.readTold('default', { from: '-', limit: 1_000 })
  return ranges.flatMap((range) => (range.runId === runId ? [range.first, range.last] : []))
}

const seqOf = async (runId: RunId) => (await test.ledger.getRun(runId)).seq

it('events are told while runs go on and after their end, by several processes once each, and those from before they started', async () => {
  const ended = await test.executing([])
  await endRun(test.ledger, ended)
  await test.ledger.deactivate({ projectId: 'default', runId: ended })
  const stops = [teller(), teller()]
  await until(async () => (await lastTold(ended)).at(-1) === (await seqOf(ended)))
  const active = await test.executing([aPlannedOperation('one')])
  await until(async () => (await lastTold(active)).at(-1) === (await seqOf(active)))
  const wanted = { operations: [] }
  const command = 'again'
  await test.ledger.reopen(await test.ledger.getRun(ended), { wanted, origin: { kind: 'api', id: 'test' }, command })
  await until(async () => (await lastTold(ended)).at(-1) === (await seqOf(ended)))
  for (const stop of stops) await stop()
  for (const runId of [ended, active]) {
    const bounds = await lastTold(runId)
    expect([bounds[0], bounds.at(-1)]).toEqual([1, await seqOf(runId)])
    for (let at = 1; at + 1 < bounds.length; at += 2) expect(bounds[at + 1]).toBe((bounds[at] ?? 0) + 1)
  }
})

it('those of runs that have ended are told when others are forgotten meanwhile', async () => {
  const { ledger, redis, namespace } = test
  const retention = openRetention(redis, namespace)
  const ended = Array.from({ length: 160 }, () => aNewRun())
  for (const run of ended) {
    await ledger.createRun(run)
    await endRun(ledger, run.runId)
    await ledger.deactivate(run)
  }
  const [gone, kept] = [ended.slice(0, 60), ended.slice(60)]
  let hasLooked = false
  const stop = teller({
    async endedRuns(page) {
      const runs = await retention.endedRuns(page)
      if (!hasLooked) for (const run of gone) await retention.forgetRun(run)
      hasLooked = true
      return runs
    },
  })
  for (const { runId } of kept) await until(async () => (await lastTold(runId)).at(-1) === (await seqOf(runId)))
  await stop()
  for (const { runId } of gone) await expect(seqOf(runId)).rejects.toMatchObject({ code: 'RUN_001' })
})
