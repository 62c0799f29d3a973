import { beforeAll, describe, expect, it } from 'vitest'
import { runSchema } from '#domain/run.ts'
import { anEvent, aNewRun, anOutcome, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import type { Ledger } from './ledger.ts'

let ledger: Ledger
const test = useOpened(testLedger)
beforeAll(async () => {
  ledger = test.ledger
})

const ending = {
  from: [{ status: 'queued' }],
  to: { status: 'failed' },
  command: 'end',
  set: { errorCode: 'INTAKE_001', reason: 'broken' },
  events: [anEvent({ event: 'run.failed', phase: 'snapshot', status: 'error' })],
} as const

describe('runs', () => {
  it('are listed newest first from creation on, page by page, and leave the active ones when they end', async () => {
    const runs = [aNewRun(), aNewRun(), aNewRun()].map((run) => ({ ...run, projectId: 'listing' }))
    for (const run of runs) await ledger.createRun(run)
    const [first, second, third] = runs.map(({ runId }) => runId).toSorted()
    const { runs: all } = await ledger.listRuns('listing', { limit: 10 })
    expect(all.map(({ runId }) => runId).toSorted()).toEqual([first, second, third])
    const { next } = await ledger.listRuns('listing', { limit: 1 })
    const rest = await ledger.listRuns('listing', { limit: 2, ...(next !== null && { before: next }) })
    expect(rest).toEqual({ runs: all.slice(1), next: null })

    const [ended] = runs
    if (ended === undefined) throw new Error('no run')
    expect(await ledger.move(ended.runId, ending)).toBe('moved')
    await ledger.createRun(ended)
    const active = await ledger.activeRuns()
    expect(active.filter(({ projectId }) => projectId === 'listing')).toHaveLength(2)
    expect(active.map(({ runId }) => runId)).not.toContain(ended.runId)
    expect((await ledger.listRuns('listing', { limit: 10 })).runs).toHaveLength(3)

    const unended = all.filter(({ runId }) => runId !== ended.runId).map(({ runId }) => runId)
    const newest = await ledger.listRuns('listing', { limit: 1, isUnended: true })
    const before = newest.next ?? ended.runId
    const older = await ledger.listRuns('listing', { limit: 1, isUnended: true, before })
    expect([newest, older].map(({ runs: [run] }) => run?.runId)).toEqual(unended)
    expect(older.next).toBeNull()
  })

  it('are active again when their acceptance is taken up after it had been given up', async () => {
    const run = aNewRun({ projectId: 'resumed' })
    await ledger.createRun(run)
    await ledger.deactivate(run)
    await ledger.createRun(run)
    expect((await ledger.activeRuns()).map(({ runId }) => runId)).toContain(run.runId)
  })

  it('are listed past those of a newer schema, which fill a page of their own', async () => {
    const runs = [aNewRun(), aNewRun(), aNewRun()].map((run) => ({ ...run, projectId: 'mixed' }))
    for (const run of runs) await ledger.createRun(run)
    const { runs: all } = await ledger.listRuns('mixed', { limit: 10 })
    for (const { runId } of all.slice(0, 2)) {
      await test.redis.hset(`${test.namespace}:{${runId}}:run`, 'schema', runSchema + 1)
    }
    const first = await ledger.listRuns('mixed', { limit: 2 })
    expect(first).toEqual({ runs: [], next: all[1]?.runId })
    const second = await ledger.listRuns('mixed', { limit: 2, ...(first.next !== null && { before: first.next }) })
    expect(second).toEqual({ runs: all.slice(2), next: null })
  })

  it('never move again once they have ended, and say how they ended', async () => {
    const run = aNewRun({ traceparent: '00-abc' })
    await ledger.createRun(run)
    await ledger.move(run.runId, ending)
    const again = { ...ending, from: [{ status: 'failed' }], to: { status: 'completed' }, command: 'other' } as const
    expect(await ledger.move(run.runId, again)).toBe('refused')
    const stored = await ledger.getRun(run.runId)
    expect(stored).toMatchObject({ status: 'failed', errorCode: 'INTAKE_001', reason: 'broken', seq: 2 })
    expect(stored).toMatchObject({ uploadKey: run.uploadKey, traceparent: '00-abc', request: run.request })
    expect(stored.endedAt).toBeGreaterThanOrEqual(stored.acceptedAt)
  })

  it('that are unknown or of a newer schema are refused with their codes', async () => {
    await expect(ledger.getRun('r00000000')).rejects.toMatchObject({ code: 'RUN_001' })
    await expect(ledger.readEvents('r00000000', { after: 0, limit: 1 })).rejects.toMatchObject({ code: 'RUN_001' })
    await expect(ledger.dispatch('r00000000', 1)).rejects.toMatchObject({ code: 'RUN_001' })
    const run = aNewRun()
    await ledger.createRun(run)
    await test.redis.hset(`${test.namespace}:{${run.runId}}:run`, 'schema', runSchema + 1)
    await expect(ledger.getRun(run.runId)).rejects.toMatchObject({ code: 'RUN_005' })
    await expect(ledger.move(run.runId, ending)).rejects.toMatchObject({ code: 'RUN_005' })
    const job = { runId: run.runId, operationId: aPlannedOperation('a').operationId, dispatch: 1 }
    await expect(ledger.claim(job, 'token')).rejects.toMatchObject({ code: 'RUN_005' })
  })
})

/** By Redis' clock, which also sets the times at which operations end. */
async function redisMs(): Promise<number> {
  const [seconds, microseconds] = await test.redis.time()
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000)
}

describe('operations', () => {
  it('that have ended are listed in the order in which they did, and no others', async () => {
    const planned = ['a', 'b', 'c', 'd'].map((name) => aPlannedOperation(name))
    const runId = await test.executing(planned)
    const [a, b, c] = await test.claimReady(runId)
    if (a === undefined || b === undefined || c === undefined) throw new Error('not claimed')
    const failed = anOutcome({ status: 'failed', errorCode: 'AGENT_004', reason: 'no submission' })
    await ledger.settle(c, 1, { outcome: failed, events: [] })
    await until(async () => (await redisMs()) > ((await ledger.getOperation(runId, c.operationId)).endedAt ?? Infinity))
    await ledger.settle(a, 1, { outcome: anOutcome({ summary: 'did it' }), events: [] })
    const ids = [...planned.map(({ operationId }) => operationId), aPlannedOperation('unknown').operationId]
    const ended = await ledger.endedOperations(runId, ids)
    expect(ended).toMatchObject([
      { bundle: 'lint', node: c.node, outcome: failed },
      { bundle: 'lint', node: a.node, outcome: { status: 'succeeded', summary: 'did it' } },
    ])
    expect(await ledger.endedOperations('r00000000', ids)).toEqual([])
  })
})

describe('results', () => {
  it('go out once, in the order the operations ended, with what the attempt knows', async () => {
    const runId = await test.executing([aPlannedOperation('a'), aPlannedOperation('b')])
    const [a, b] = await test.claimReady(runId)
    if (a === undefined || b === undefined) throw new Error('not claimed')
    const result = { details: { lines: 3 }, findings: [{ claim: 'x' }] }
    await ledger.settle(b, 1, {
      outcome: anOutcome({ changedFiles: ['src/app.py'], changeSetId: 'c1' }),
      events: [],
      result,
    })
    const failed = anOutcome({ status: 'failed', errorCode: 'TOOL_003', phase: 'tools', reason: 'slow' })
    await ledger.settle(a, 1, { outcome: failed, events: [] })
    expect(await Promise.all([ledger.relayResults(runId), ledger.relayResults(runId)])).toContain(0)
    expect(await ledger.relayResults(runId)).toBe(0)

    const entries = await test.redis.xrange(`${test.namespace}:results`, '-', '+')
    const own = entries.map(([, fields]) => fields).filter((fields) => fields.includes(runId))
    const results: unknown[] = own.map((fields) => JSON.parse(fields[fields.indexOf('result') + 1] ?? ''))
    expect(results).toMatchObject([
      {
        operation_id: b.operationId,
        status: 'succeeded',
        change_set_id: 'c1',
        changed_files: ['src/app.py'],
        tokens: 15,
        ...result,
      },
      {
        operation_id: a.operationId,
        status: 'failed',
        error: { error_code: 'TOOL_003', phase: 'tools', reason: 'slow' },
      },
    ])
  })
})
