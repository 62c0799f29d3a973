import { afterEach, describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { indexKeys, runKeys } from '#store/ledger/keys.ts'
import { aCost, aNewRun, anOutcome, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { openTestQueue } from '#store/queues/test-queue.fixture.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openDispatcher, operations } from './dispatcher.fixture.ts'
import { dispatchReady } from './run-dispatcher.ts'

const test = useOpened(testLedger)

const dispatcher = (fleet?: { operations: number; capacity?: number; stuck?: number }) => openDispatcher(test, fleet)

describe('dispatchReady', () => {
  /** Ignores the runs of other examples. */
  afterEach(() => test.redis.del(indexKeys(test.namespace).active))

  it('shares the window among the executing runs, and one that cannot be attended to holds up no other', async () => {
    const broken = await test.executing(operations)
    await test.redis.hset(runKeys(test.namespace, broken).run, 'schema', '99')
    await test.ledger.createRun(aNewRun())
    const [first, second] = [await test.executing(operations), await test.executing(operations)]
    const { deps, count, warnings } = dispatcher()
    expect(await dispatchReady(deps)).toBe(3)
    await dispatchReady(deps)
    // A window of three quarters of the slots, split between two runs.
    expect([count(first), count(second)]).toEqual([4, 4])
    expect(warnings).toEqual([broken])
  })

  it('lets the operations of a run that begins pass those of a large run in the queue', async () => {
    const { producer, consume, close } = await openTestQueue()
    const { deps } = dispatcher({ operations: 40, capacity: 3 })
    const large = await test.executing(operations)
    await dispatchReady({ ...deps, producer })
    const small = await test.executing(operations)
    await dispatchReady({ ...deps, producer })
    const started: RunId[] = []
    consume(async ({ run_id: runId }) => void started.push(runId), { concurrency: 1 })
    await until(() => started, { holds: ({ length }) => length === 13 })
    // The small run has four of nine, and goes on as evenly as the large one, though that was there first.
    const places = started.flatMap((runId, at) => (runId === small ? [at] : []))
    expect(places).toHaveLength(4)
    expect(Math.min(...places)).toBeLessThanOrEqual(1)
    expect(started.at(-1)).toBe(large)
    await close()
  })

  it('gives runs that begin what is more than the window, and leaves some of that to the next', async () => {
    const { deps, count } = dispatcher({ operations: 13, capacity: 3 })
    const large = await test.executing(operations)
    await dispatchReady(deps)
    const begun: RunId[] = []
    for (let round = 0; round < 4; round++) {
      begun.push(await test.executing(operations))
      for (let again = 0; again < 3; again++) await dispatchReady(deps)
    }
    expect([large, ...begun].map(count)).toEqual([9, 2, 1, 1, 1])
  })

  it('gives a run the whole window while one of another kind of model, which stands still, has operations under way', async () => {
    const other = await test.executing(operations, { labels: { 'remora.model': 'rehearsal' } })
    await test.ledger.dispatch(other, 20)
    const { deps, count } = dispatcher()
    const runId = await test.executing(operations)
    for (let round = 0; round < 2; round++) await dispatchReady({ ...deps, modelKind: 'servers' })
    expect(count(runId)).toBe(8)
  })

  it('keeps the window however many dispatchers there are', async () => {
    const [first, second] = [await test.executing(operations), await test.executing(operations)]
    const several = Array.from({ length: 3 }, () => dispatcher())
    for (let round = 0; round < 3; round++) await Promise.all(several.map(({ deps }) => dispatchReady(deps)))
    const dispatched = async (runId: RunId) => (await test.ledger.getRun(runId)).counts.dispatched
    expect([await dispatched(first), await dispatched(second)]).toEqual([4, 4])
  })

  it('loses no job when the queue is away between dispatch and adding', async () => {
    const runId = await test.executing(operations)
    const { deps, count, queue } = dispatcher()
    queue.broken = true
    await expect(dispatchReady(deps)).rejects.toMatchObject({ code: 'STORE_001' })
    await expect(dispatchReady(deps)).rejects.toMatchObject({ code: 'STORE_001' })
    queue.broken = false
    await dispatchReady(deps)
    expect(count(runId)).toBe(8)
  })

  it('dispatches again what a dispatcher which died had not added to the queue', async () => {
    const runId = await test.executing(operations)
    const { taken } = await test.ledger.dispatch(runId, 8)
    const { deps, count } = dispatcher()
    await dispatchReady(deps)
    expect(count(runId)).toBe(8)
    const [first] = taken
    if (first === undefined) throw new Error('nothing was dispatched')
    expect(await test.ledger.claim({ runId, ...first }, 'stale')).toEqual({ kind: 'gone' })
    expect(await test.ledger.claim({ runId, ...first, dispatch: 2 }, 'token')).toMatchObject({ kind: 'claimed' })
  })

  it('gives nothing of the window to a run that waits for people, until it is answered or time is over', async () => {
    const waiting = await test.executing(operations.slice(0, 2))
    const [first, second] = await test.claimReady(waiting)
    if (first === undefined || second === undefined) throw new Error('two were ready')
    const question = { text: 'Shall I?', choices: null }
    const suspension = { question, answerWithinMs: 60_000, recordHash: 'r', spent: aCost, events: [] }
    for (const attempt of [first, second]) await test.ledger.suspend(attempt, 1, suspension)
    const { seq } = await test.ledger.getRun(waiting)
    const busy = await test.executing(operations)
    const { deps, count } = dispatcher()
    await dispatchReady(deps)
    await dispatchReady(deps)
    expect([count(waiting), count(busy)]).toEqual([0, 8])
    expect(await test.ledger.getRun(waiting)).toMatchObject({ status: 'waiting', seq })

    const by = { kind: 'human', id: 'me' } as const
    await test.ledger.resume(waiting, { requestId: 'q1', text: 'yes', by, command: 'answer' })
    await dispatchReady(deps)
    expect([count(waiting), count(busy)]).toEqual([1, 8])

    await test.redis.zadd(runKeys(test.namespace, waiting).waiting, 1, second.operationId)
    await dispatchReady(dispatcher().deps)
    expect(await test.ledger.getRun(waiting)).toMatchObject({
      status: 'running',
      counts: { blocked: 1, dispatched: 1 },
    })
  })

  it('lets a large run whose model is away wait within a few rounds, while another is given as much as it can use', async () => {
    const large = Array.from({ length: 1000 }, (_, at) => aPlannedOperation(`large${at}`))
    const [away, busy] = [await test.executing(large), await test.executing(large)]
    await test.ledger.setAway(away, [{ model: 'default', since: 1_700_000_000_000, bundles: ['lint'] }])
    const { deps, count } = dispatcher()
    await dispatchReady(deps)
    expect([count(away), count(busy)]).toEqual([0, 4])
    for (let round = 0; round < 5; round++) {
      // What the other run was given runs and ends, and as much is handed out in the next round.
      const before = count(busy)
      for (const { operationId, dispatch } of await test.ledger.dispatchedLongAgo(busy, { agedMs: 0, limit: 100 })) {
        const answer = await test.ledger.claim({ runId: busy, operationId, dispatch }, 'token')
        if (answer.kind === 'claimed') await test.ledger.settle(answer.attempt, 1, { outcome: anOutcome(), events: [] })
      }
      await dispatchReady(deps)
      expect(count(busy) - before).toBeGreaterThanOrEqual(4)
    }
    expect(await test.ledger.getRun(away)).toMatchObject({ status: 'waiting', counts: { ready: 1000 } })
    expect((await test.ledger.verify(away)).violations).toEqual([])
  })

  it('takes nothing of the window for what waits at a worker whose servers are away: a run goes on at the others', async () => {
    const runId = await test.executing(operations)
    await test.ledger.dispatch(runId, 10)
    const { deps } = dispatcher({ operations: 24, capacity: 8 / 3, stuck: 10 })
    for (let round = 0; round < 3; round++) await dispatchReady(deps)
    expect(await test.ledger.getRun(runId)).toMatchObject({ counts: { dispatched: 10 + 8 } })
  })

  it('gives nothing of the window for what is held, while other operations of the run go on', async () => {
    const other = aPlannedOperation('other', { bundle: 'docstring' })
    const [mixed, busy] = [await test.executing([other, ...operations]), await test.executing(operations)]
    await test.ledger.setAway(mixed, [{ model: 'default', since: 1_700_000_000_000, bundles: ['lint'] }])
    const { deps, count } = dispatcher({ operations: 24, capacity: 8 / 3 })
    for (let round = 0; round < 3; round++) await dispatchReady(deps)
    expect([count(mixed), count(busy)]).toEqual([1, 7])
    await test.ledger.setAway(mixed, [])
    for (let round = 0; round < 3; round++) await dispatchReady(deps)
    expect(count(mixed)).toBe(4)
  })
})
