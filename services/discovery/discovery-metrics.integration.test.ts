import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import { openFleet } from '#store/ledger/fleet.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { openMetrics } from '#platform/metrics/open-metrics.ts'
import { silentLog } from '#platform/log.ts'
import { openConsumer } from '#store/queues/consumer.ts'
import { openProducer, type Producer } from '#store/queues/producer.ts'
import { metricValue } from '#testing/metric-value.ts'
import { aCost, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { measuredLedger, showRuns } from './discovery-metrics.ts'

let producer: Producer
const queues = () => ({ redisUrl: test.redisUrl, prefix: `{${test.namespace}}`, log: silentLog })
const test = useOpened(testLedger)
beforeAll(async () => {
  producer = openProducer(queues())
})
afterAll(() => producer.close())

/** As a discovery process shows them that has just seen these runs. */
function openShown() {
  const metrics = openMetrics('discovery')
  const { redis, namespace } = test
  const ledger = measuredLedger(test.ledger, metrics)
  const seen = showRuns(metrics, { ledger, producer, redis, readFleet: openFleet(redis, namespace).read })
  return {
    ledger,
    async of(runIds: readonly RunId[]) {
      seen({ runs: await Promise.all(runIds.map(test.ledger.getRun)), window: 8 })
      const text = await metrics.text()
      return (series: string) => metricValue(text, series)
    },
  }
}

const origin = { kind: 'human', id: 'me' } as const
const lintAway = { model: 'default', since: 1_700_000_000_000, bundles: ['lint'] }

describe('the metrics of discovery', () => {
  it('show each open operation once: what waits for a model is not ready, and a stopped run wants no worker', async () => {
    const [held, other, later] = [aPlannedOperation('a'), aPlannedOperation('b', { bundle: 'docstring' }), 'c']
    const runId = await test.executing([held, other, aPlannedOperation(later, { bundle: 'docstring' }, [other])])
    const stopped = await test.executing([aPlannedOperation('d')])
    await test.ledger.cancel(stopped, { reason: 'enough', origin })
    await test.ledger.setAway(runId, [lintAway])
    await test.ledger.dispatch(runId, 10)
    const value = await openShown().of([runId, stopped])
    const states = ['ready', 'dispatched', 'running'].map((state) => value(`remora_operations{state="${state}"}`))
    expect(states).toEqual([0, 1, 0])
    const reasons = ['operations', 'people', 'models'].map((reason) => value(`remora_waiting{reason="${reason}"}`))
    expect(reasons).toEqual([1, 0, 1])
    expect(value('remora_demand')).toBe(1)
  })

  it('ask for no worker while all that is left waits for a budget', async () => {
    const runId = await test.executing([aPlannedOperation('a'), aPlannedOperation('b')])
    await test.ledger.noteProjectBudget(runId, { limit: 1, used: 2, resetsAt: 3 })
    await test.ledger.dispatch(runId, 10)
    const value = await openShown().of([runId])
    expect(['models', 'budget'].map((reason) => value(`remora_waiting{reason="${reason}"}`))).toEqual([0, 2])
    expect([value('remora_demand'), value('remora_operations{state="ready"}')]).toEqual([0, 0])
  })

  it('ask for a worker while a composition is put off, though none is there to take it up again', async () => {
    const shown = openShown()
    expect((await shown.of([]))('remora_demand')).toBe(0)
    const runId = await test.executing([])
    await producer.add('compositions', runId, { run_id: runId, traceparent: null })
    const handler = () => Promise.reject(new AppError('STORE_002', 'the object store is away'))
    const consumer = openConsumer({ ...queues(), log: silentLog, queue: 'compositions', concurrency: 1, handler })
    await until(() => producer.countJobs('compositions'), { holds: ({ delayed }) => delayed === 1 })
    await consumer.close({ graceMs: 1_000 })
    expect((await shown.of([]))('remora_demand')).toBe(1)
  })

  it('count what no worker ended, once, with its agent and its code', async () => {
    const shown = openShown()
    const [asks, held] = [aPlannedOperation('asks', { bundle: 'docstring' }), aPlannedOperation('held')]
    const runId = await test.executing([asks, held, aPlannedOperation('after', {}, [held])])
    const [attempt] = (await test.claimReady(runId)).filter(({ bundle }) => bundle === 'docstring')
    if (attempt === undefined) throw new Error('nothing was ready')
    await test.ledger.suspend(attempt, 1, {
      question: { text: 'Really?', choices: null },
      answerWithinMs: 0,
      recordHash: 'the-record',
      spent: aCost,
      events: [],
    })
    const { leases } = runKeys(test.namespace, runId)
    await test.redis.zadd(leases, 'XX', 1, held.operationId)
    await shown.ledger.sweep(runId)
    await test.ledger.setAway(runId, [lintAway])
    await test.ledger.dispatch(runId, 10)
    await test.ledger.blockHeld(runId, { bundle: 'lint', reason: 'its model was away for 24 h' })
    await Promise.all([shown.ledger.relayResults(runId), shown.ledger.relayResults(runId)])
    await shown.ledger.relayResults(runId)
    const value = await shown.of([])
    const ended = (agent: string, status: string, code: string) =>
      value(`remora_operations_total{agent="${agent}",status="${status}",error_code="${code}"}`)
    expect(ended('docstring', 'blocked', 'ASK_003')).toBe(1)
    expect(ended('lint', 'blocked', 'AGENT_002')).toBe(1)
    expect(ended('lint', 'skipped', '')).toBe(1)
    expect(value('remora_recovered_operations_total{how="swept"}')).toBe(1)
  })
})
