import { afterEach, describe, expect, it } from 'vitest'
import { indexKeys } from '#store/ledger/keys.ts'
import { anEvent, aNewRun, anOutcome, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openDispatcher, operations } from './dispatcher.fixture.ts'
import { dispatchReady } from './run-dispatcher.ts'

const test = useOpened(testLedger)

const dispatcher = () => openDispatcher(test)

describe('dispatchReady, for runs that end', () => {
  /** Ignores the runs of other examples. */
  afterEach(() => test.redis.del(indexKeys(test.namespace).active))

  it('brings a cancelled run to its end, and then leaves it alone', async () => {
    const runId = await test.executing(operations)
    const { deps } = dispatcher()
    await dispatchReady(deps)
    await test.ledger.cancel(runId, { reason: 'not wanted', origin: { kind: 'human', id: 'me' } })
    await dispatchReady(deps)
    const run = await test.ledger.getRun(runId)
    expect(run).toMatchObject({ status: 'cancelled', reason: 'not wanted', counts: { cancelled: 20 } })
    expect(await dispatchReady(deps)).toBe(0)
    const events = await test.ledger.readEvents(runId, { after: 0, limit: 100 })
    expect(events.filter(({ event }) => event === 'run.cancelled')).toMatchObject([
      { data: { reason: 'not wanted', requested_by: 'human/me' } },
    ])
    expect((await test.ledger.verify(runId)).violations).toEqual([])
  })

  it('ends a cancelled run after its running operations, where these may finish', async () => {
    const runId = await test.executing(operations)
    const { taken } = await test.ledger.dispatch(runId, 1)
    const claimed = await test.ledger.claim({ runId, operationId: '', dispatch: 0, ...taken[0] }, 'token')
    if (claimed.kind !== 'claimed') throw new Error('nothing was ready')
    const by = { kind: 'publisher', id: 'test' } as const
    await test.ledger.cancel(runId, { reason: 'a newer push', origin: by, letFinish: true })
    const { deps } = dispatcher()
    await dispatchReady(deps)
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'running' })
    await test.ledger.settle(claimed.attempt, 1, { outcome: anOutcome(), events: [] })
    await dispatchReady(deps)
    const run = await test.ledger.getRun(runId)
    expect(run).toMatchObject({ status: 'cancelled', reason: 'a newer push', counts: { succeeded: 1, cancelled: 19 } })
    expect((await test.ledger.verify(runId)).violations).toEqual([])
  })

  it('cancels a run that has not come to its operations', async () => {
    const run = aNewRun()
    await test.ledger.createRun(run)
    await test.ledger.cancel(run.runId, { reason: 'too late', origin: { kind: 'human', id: 'me' } })
    const { deps } = dispatcher()
    await dispatchReady(deps)
    expect(await test.ledger.getRun(run.runId)).toMatchObject({ status: 'cancelled', phase: 'snapshot' })
  })

  it('fails a run that its policy stopped under the code of what failed', async () => {
    const runId = await test.executing(operations, { errorPolicy: 'stop_run' })
    const attempts = await test.claimReady(runId)
    const [bad, ...others] = attempts
    if (bad === undefined) throw new Error('nothing was ready')
    const outcome = anOutcome({ status: 'failed', errorCode: 'AGENT_004', reason: 'too many turns' })
    await test.ledger.settle(bad, 1, { outcome, events: [] })
    const { deps } = dispatcher()
    await dispatchReady(deps)
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'running' })
    for (const attempt of others) {
      await test.ledger.settle(attempt, 1, { outcome: anOutcome({ status: 'cancelled' }), events: [] })
    }
    await dispatchReady(deps)
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'failed', errorCode: 'AGENT_004' })
    expect((await test.ledger.verify(runId)).violations).toEqual([])
  })

  it('takes an ended run, and an old entry without a run, off the active ones', async () => {
    const ended = await test.executing(operations)
    const { active } = indexKeys(test.namespace)
    const events = [anEvent({ event: 'run.failed', phase: 'execution' })]
    const [entry = ''] = await test.redis.zrange(active, '0', '-1')
    await test.settleAll(ended)
    await test.ledger.move(ended, { from: [{ status: 'running' }], to: { status: 'failed' }, command: 'x', events })
    await test.redis.zadd(active, 1, entry, 2, 'local/r00000000', Date.now(), 'local/r00000001')
    const { deps } = dispatcher()
    await dispatchReady(deps)
    expect(await test.redis.zrange(active, '0', '-1')).toEqual(['local/r00000001'])
  })
})
