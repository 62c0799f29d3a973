import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import type { Escalation } from '#domain/agenda.ts'
import type { RunId } from '#domain/ids.ts'
import { openModelPool } from '#models/model-pool.ts'
import { silentLog } from '#platform/log.ts'
import { dyingAfter } from '#store/ledger/dying-after.fixture.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { redisNowMs } from '#store/ledger/store.ts'
import { openToldGroup } from '#store/ledger/told-events.ts'
import { anOutcome, aPlannedOperation, endRun, testLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { startRehearsal } from '#rehearsal/rehearsal-server.ts'
import { runWatcher } from './run-watcher.ts'
import { usualThresholds } from './usual-thresholds.fixture.ts'
import { type WatchDeps, watchRun } from './watch-run.ts'
import { unwatched } from './watch-state.ts'

const test = useOpened(async () => {
  const [stores, rehearsal] = await Promise.all([testLedger(), startRehearsal({ host: '127.0.0.1', port: 0 })])
  const limits = { requestTimeoutMs: 10_000, retryBudgetMs: 1, maxInFlight: 8 }
  const model = openModelPool({ endpoints: [{ url: rehearsal.url }], ...limits })
  const close = async () => void (await Promise.all([model.close(), rehearsal.close(), stores.close()]))
  return { ...stores, model, rehearsalUrl: rehearsal.origin, close }
})

const never = new AbortController().signal
const origin = { kind: 'watcher', id: 'w1' } as const

function deps(): WatchDeps {
  const asked = async () => ({ model: 'rehearsal', temperature: 0, toolChoice: 'required' }) as const
  const reviewer = { model: test.model, asked }
  return { ledger: test.ledger, reviewer, thresholds: usualThresholds, origin, now: () => redisNowMs(test.redis) }
}

/** A run of eight operations, of which six have failed one after the other. */
async function aFailingRun(): Promise<RunId> {
  const names = Array.from({ length: 8 }, (_, index) => aPlannedOperation(`f${index}`))
  const runId = await test.executing(names)
  const attempts = await test.claimReady(runId)
  for (const attempt of attempts.slice(0, 6)) {
    const outcome = anOutcome({ status: 'failed', errorCode: 'AGENT_005', reason: 'not valid' })
    await test.ledger.settle(attempt, 1, { outcome, events: [] })
  }
  return runId
}

async function ofWatcher(runId: RunId) {
  const events = await test.ledger.readEvents(runId, { after: 0, limit: 1_000 })
  return events.filter((event) => event.origin.kind === 'watcher')
}

/** Has the watcher raise what was escalated when it was killed. */
async function raise(runId: RunId, ...mitigations: Escalation['mitigation'][]): Promise<void> {
  const { seq } = await test.ledger.getRun(runId)
  const raising = mitigations.map((mitigation, index) => ({
    kind: 'failure_spike' as const,
    urgency: 'high' as const,
    affected: [],
    rationale: 'all fail',
    mitigation,
    dedup_key: mitigation,
    from_seq: 1,
    to_seq: 2,
    command: `raise ${index}`,
  }))
  const state = { ...unwatched, cursor: seq, raising }
  await test.ledger.keepWatch(runId, { token: 'killed', version: 1, state, events: [] })
  await watchRun(runId, deps(), never)
}

const namesOf = async (runId: RunId) => (await ofWatcher(runId)).map(({ event }) => event)

async function setFaults(shares: Record<string, number>): Promise<void> {
  await fetch(`${test.rehearsalUrl}/faults`, { method: 'POST', body: JSON.stringify({ shares }) })
}

describe('the watcher', () => {
  it('has the failures of a run reviewed and raises them once, however many look however often', async () => {
    const runId = await aFailingRun()
    const looks = Array.from({ length: 4 }, () => watchRun(runId, deps(), never))
    expect((await Promise.all(looks)).filter(Boolean)).toHaveLength(1)
    expect(await watchRun(runId, deps(), never)).toBe(true)
    const [reviewed, raised, ...more] = await ofWatcher(runId)
    expect(more).toEqual([])
    const window = { kind: 'failure_spike', from_seq: expect.any(Number), to_seq: expect.any(Number) }
    expect(reviewed).toMatchObject({
      event: 'watcher.reviewed',
      data: { ...window, verdict: 'escalated', thresholds: usualThresholds },
    })
    expect(raised).toMatchObject({ event: 'escalation.raised', category: 'escalation', data: window })
    const { violations } = await test.ledger.verify(runId)
    expect(violations).toEqual([])
  })

  it('misses nothing and raises nothing twice, whichever command it dies at', async () => {
    for (let last = 1, isDead = true; isDead; last++) {
      const runId = await aFailingRun()
      const ledger = openLedger(dyingAfter(test.redis, last), { namespace: test.namespace })
      isDead = await watchRun(runId, { ...deps(), ledger }, never).then(
        () => false,
        () => true,
      )
      await test.redis.del(runKeys(test.namespace, runId).watching) // the lease of the dead has run out
      expect(await watchRun(runId, deps(), never)).toBe(true)
      expect(await namesOf(runId), `died at command ${last}`).toEqual(['watcher.reviewed', 'escalation.raised'])
    }
  })

  it('decides nothing itself when the review fails', async () => {
    const runId = await aFailingRun()
    await setFaults({ no_tool_call: 1 })
    await watchRun(runId, deps(), never)
    await setFaults({})
    const [failed, ...more] = await ofWatcher(runId)
    expect(more).toEqual([])
    expect(failed).toMatchObject({ event: 'watcher.failed', errorCode: 'AGENT_003', data: { kind: 'failure_spike' } })
  })

  it('asks no model for a review that does not fit into the budget', async () => {
    const runId = await aFailingRun()
    await test.ledger.setBudget(runId, { tokens: 100, origin: { kind: 'human', id: 'me' } })
    await watchRun(runId, deps(), never)
    const data = { kind: 'failure_spike', prompt_tokens: 0, completion_tokens: 0 }
    expect(await ofWatcher(runId)).toMatchObject([{ event: 'watcher.failed', errorCode: 'LIMIT_004', data }])
    expect(await test.ledger.getRun(runId)).toMatchObject({ tokens: 0, reserved: 0 })
    await watchRun(runId, deps(), never)
    expect(await namesOf(runId)).toEqual(['watcher.failed'])
  })

  it('raises by the clock that nothing moves in a run which says of nothing that it waits for it', async () => {
    const runId = await test.executing([aPlannedOperation('one')])
    await test.claimReady(runId)
    const stalledMs = usualThresholds.stalled_s * 1_000
    const later = (ms: number) => ({ ...deps(), now: async () => (await redisNowMs(test.redis)) + ms })
    await watchRun(runId, later(stalledMs - 60_000), never)
    expect(await namesOf(runId)).toEqual([])
    for (const ms of [stalledMs + 1, stalledMs + 30_000]) await watchRun(runId, later(ms), never)
    const [reviewed, ...more] = await ofWatcher(runId)
    expect(reviewed?.data['kind']).toBe('stalled_run')
    expect(more.map(({ event }) => event)).toEqual(['escalation.raised'])
  })

  it('asks a person what is to be done about a run without a conductor, which goes on, and the answer does it', async () => {
    const runId = await aFailingRun()
    await raise(runId, 'notify', 'retry')
    const [question, ...more] = await test.ledger.listQuestions(runId)
    expect(more).toEqual([])
    expect(question).toMatchObject({
      operationId: null,
      bundle: 'watcher',
      text: 'failure_spike, urgency high: all fail',
      choices: ['continue', 'retry what failed', 'cancel the run'],
      status: 'open',
    })
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'running', ownQuestions: 1 })
    const answer = { requestId: 'q1', text: 'cancel the run', by: { kind: 'human', id: 'me' }, command: 'one' } as const
    await expect(test.ledger.resume(runId, { ...answer, text: 'stop' })).rejects.toMatchObject({ code: 'ASK_005' })
    for (const _ of [1, 2]) await test.ledger.resume(runId, answer)
    await expect(test.ledger.resume(runId, { ...answer, command: 'two' })).rejects.toMatchObject({ code: 'RUN_007' })
    expect(await test.ledger.getRun(runId)).toMatchObject({ stop: { by: 'human/me' }, ownQuestions: 0 })
    expect((await test.ledger.verify(runId)).violations).toEqual([])
  })

  it('asks no longer than the run goes on', async () => {
    const runId = await test.executing([aPlannedOperation('one')])
    await raise(runId, 'request_human')
    await test.settleAll(runId)
    await endRun(test.ledger, runId, 'failed')
    expect(await test.ledger.listQuestions(runId)).toMatchObject([{ status: 'expired' }])
    expect((await test.ledger.verify(runId)).violations).toEqual([])
  })

  it('says nothing about a run that is being stopped', async () => {
    const runId = await aFailingRun()
    await test.ledger.cancel(runId, { reason: 'enough', origin: { kind: 'api', id: 'test' } })
    await watchRun(runId, deps(), never)
    expect(await namesOf(runId)).toEqual([])
  })

  it('follows the stream of all runs, and takes over what a process that died had read', async () => {
    const waiting = new Redis(test.redisUrl, { maxRetriesPerRequest: null })
    const of = { redis: waiting, namespace: test.namespace }
    const dead = await openToldGroup(of, { group: 'watcher', idleMs: 60_000, waitMs: 1_000 })
    const runId = await aFailingRun()
    await test.ledger.tellEvents(runId)
    expect((await dead.take(10)).map((range) => range.runId)).toContain(runId)
    const ranges = await openToldGroup(of, { group: 'watcher', idleMs: 0, waitMs: 10 })
    const end = runWatcher({ ...deps(), ledger: test.ledger, ranges, log: silentLog }, { lookMs: 60_000 })
    await until(async () => (await namesOf(runId)).includes('escalation.raised'))
    await until(async () => Number((await test.redis.xpending(`${test.namespace}:events`, 'watcher'))[0]) === 0)
    await end()
    waiting.disconnect()
    expect(await namesOf(runId)).toEqual(['watcher.reviewed', 'escalation.raised'])
  })
})
