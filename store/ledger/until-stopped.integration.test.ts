import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { delay } from '#platform/clock.ts'
import { aNewRun, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { stopsChannel } from './keys.ts'
import { openStopSignals, type StopSignals } from './stop-signals.ts'
import { untilStopped, type UntilStoppedDeps } from './run-stage.ts'
import { silentLog } from '#platform/log.ts'

let stops: StopSignals
const test = useOpened(testLedger)
beforeAll(async () => {
  stops = openStopSignals({ redisUrl: test.redisUrl, namespace: test.namespace, log: silentLog })
  await until(() => test.redis.pubsub('NUMSUB', stopsChannel(test.namespace)), { holds: ([, count]) => count === 1 })
})
afterAll(async () => {
  stops.close()
})

const never = new AbortController().signal
const deaf = { on: () => () => {} }
const request = { reason: 'not wanted', origin: { kind: 'human', id: 'me' } } as const
const aRun = () => test.executing([aPlannedOperation('root')])

/** A stage that runs until it is aborted, and its progress. */
function anEndlessStage() {
  const progress = { started: false, aborted: false }
  const stage = async (signal: AbortSignal) => {
    progress.started = true
    await delay(60_000, signal).finally(() => (progress.aborted = signal.aborted))
  }
  return { progress, stage }
}

/** The ledger, and how often the run's state was read. */
function countedLedger() {
  const counted = { asked: 0, getRun: test.ledger.getRun }
  counted.getRun = (runId) => test.ledger.getRun(runId).finally(() => (counted.asked += 1))
  return counted
}

describe('a stage', () => {
  it('is aborted when its run is told to stop, and counts as done', async () => {
    const runId = await aRun()
    const { progress, stage } = anEndlessStage()
    const running = untilStopped(runId, stage, { ledger: test.ledger, stops, askEveryMs: 60_000 }, never)
    await until(() => progress.started)
    await test.ledger.cancel(runId, request)
    await running
    expect(progress.aborted).toBe(true)
  })

  it('is aborted as well when the signal was lost', async () => {
    const runId = await aRun()
    const { progress, stage } = anEndlessStage()
    const running = untilStopped(runId, stage, { ledger: test.ledger, stops: deaf, askEveryMs: 10 }, never)
    await until(() => progress.started)
    await test.ledger.cancel(runId, request)
    await running
    expect(progress.aborted).toBe(true)
  })

  it('goes on after a signal that the ledger knows nothing of', async () => {
    const runId = await aRun()
    const ledger = countedLedger()
    const stage = async (signal: AbortSignal) => {
      const { asked } = ledger
      await test.redis.publish(stopsChannel(test.namespace), runId)
      await until(() => ledger.asked, { holds: (count) => count > asked })
      signal.throwIfAborted()
    }
    await untilStopped(runId, stage, { ledger, stops, askEveryMs: 60_000 }, never)
    expect(ledger.asked).toBe(2)
  })

  it('does nothing for a run that is stopped already', async () => {
    const runId = await aRun()
    await test.ledger.cancel(runId, request)
    const { progress, stage } = anEndlessStage()
    await untilStopped(runId, stage, { ledger: test.ledger, stops }, never)
    expect(progress.started).toBe(false)
  })

  it('fails with what it throws, with the end of its process, and for an unknown run', async () => {
    const runId = await aRun()
    const deps: UntilStoppedDeps = { ledger: test.ledger, stops }
    const failing = async () => Promise.reject(new Error('torn'))
    await expect(untilStopped(runId, failing, deps, never)).rejects.toThrow('torn')
    const { stage } = anEndlessStage()
    const ended = AbortSignal.abort(new Error('the worker is shutting down'))
    await expect(untilStopped(runId, stage, deps, ended)).rejects.toThrow('the worker is shutting down')
    await expect(untilStopped(aNewRun().runId, stage, deps, never)).rejects.toMatchObject({ code: 'RUN_001' })
  })
})
