import { describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { aNewRun, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { dyingAfter } from './dying-after.fixture.ts'
import { indexKeys, resultKeys, runKeys, toldKeys } from './keys.ts'
import { forgetRun, openRetention } from './retention.ts'

const test = useOpened(testLedger)

const now = { agedMs: 0, first: 0, limit: 1_000 }

/** A run of more operations than one slice, which has ended and whose results are published. */
async function anEndedRun(count = 600): Promise<{ projectId: string; runId: RunId }> {
  const operations = Array.from({ length: count }, (_, at) => aPlannedOperation(`f${at}`))
  const waiting = operations.slice(0, 1)
  const runId = await test.executing([...operations, aPlannedOperation('last', {}, waiting)])
  await test.settleAll(runId)
  await test.ledger.relayResults(runId)
  await test.ledger.tellEvents(runId)
  await test.ledger.move(runId, { from: [{ status: 'running' }], to: { status: 'failed' }, command: 'end', events: [] })
  return { projectId: (await test.ledger.getRun(runId)).projectId, runId }
}

async function traces({ projectId, runId }: { projectId: string; runId: RunId }): Promise<string[]> {
  const index = indexKeys(test.namespace)
  const member = `${projectId}/${runId}`
  const named = {
    keys: (await test.redis.keys(`${test.namespace}:{${runId}}:*`)).length > 0,
    told: (await test.redis.hexists(toldKeys(test.namespace).told, runId)) === 1,
    published: (await test.redis.hexists(resultKeys(test.namespace).published, runId)) === 1,
    runs: (await test.redis.zscore(index.runsOf(projectId), runId)) !== null,
    ended: (await test.redis.zscore(index.ended, member)) !== null,
    active: (await test.redis.zscore(index.active, member)) !== null,
  }
  return Object.entries(named).flatMap(([name, there]) => (there ? [name] : []))
}

describe('forgetRun', () => {
  it('leaves nothing of an ended run, and the others alone', async () => {
    const [run, other] = [await anEndedRun(), await anEndedRun(2)]
    expect(await traces(run)).toEqual(['keys', 'told', 'published', 'runs', 'ended'])
    const kept = await test.redis.keys(`${test.namespace}:{${other.runId}}:*`)
    expect(await openRetention(test.redis, test.namespace).forgetRun(run)).toBe('forgotten')
    expect(await traces(run)).toEqual([])
    await expect(test.ledger.getRun(run.runId)).rejects.toMatchObject({ code: 'RUN_001' })
    expect((await test.redis.keys(`${test.namespace}:{${other.runId}}:*`)).toSorted()).toEqual(kept.toSorted())
    expect(await traces(other)).toEqual(['keys', 'told', 'published', 'runs', 'ended'])
  })

  it('is finished the next time, whatever step it dies at, and the run is unknown from the first on', async () => {
    const retention = openRetention(test.redis, test.namespace)
    let died = 0
    for (let last = 1; ; last++) {
      const run = await anEndedRun(6)
      const dying = { redis: dyingAfter(test.redis, last), namespace: test.namespace }
      const finished = await forgetRun(dying, run, 3).then(
        () => true,
        () => false,
      )
      if (finished) break
      died += 1
      await expect(test.ledger.getRun(run.runId)).rejects.toMatchObject({ code: 'RUN_001' })
      expect(await retention.endedRuns(now)).toContainEqual(run)
      expect(await retention.forgetRun(run)).toBe('forgotten')
      expect(await traces(run)).toEqual([])
    }
    expect(died).toBeGreaterThan(10)
  })

  it('is harmless twice at once, and again', async () => {
    const run = await anEndedRun(900)
    const store = { redis: test.redis, namespace: test.namespace }
    await Promise.all([1, 7, 500].map(async (slice) => forgetRun(store, run, slice)))
    expect(await forgetRun(store, run)).toBe('forgotten')
    expect(await traces(run)).toEqual([])
  })

  it('does not touch a run that goes on', async () => {
    const { runId, projectId } = aNewRun()
    await test.ledger.createRun(aNewRun({ runId }))
    expect(await openRetention(test.redis, test.namespace).forgetRun({ runId, projectId })).toBe('open')
    expect(await test.ledger.getRun(runId)).toMatchObject({ status: 'queued' })
    expect(await traces({ runId, projectId })).toEqual(['keys', 'runs', 'active'])
  })

  it('does not touch a run of a newer version', async () => {
    const run = await anEndedRun(2)
    await test.redis.hset(runKeys(test.namespace, run.runId).run, 'schema', '99')
    const forgetting = openRetention(test.redis, test.namespace).forgetRun(run)
    await expect(forgetting).rejects.toMatchObject({ code: 'RUN_005' })
    expect(await traces(run)).toEqual(['keys', 'told', 'published', 'runs', 'ended'])
  })
})

describe('endedRuns', () => {
  it('gives the longest ended first, and only those that ended long enough ago', async () => {
    const { endedRuns } = openRetention(test.redis, test.namespace)
    const [first, second] = [await anEndedRun(2), await anEndedRun(2)]
    await test.redis.zadd(indexKeys(test.namespace).ended, 'XX', 1, `${first.projectId}/${first.runId}`)
    expect((await endedRuns({ agedMs: 3_600_000, first: 0, limit: 10 })).map(({ runId }) => runId)).toEqual([
      first.runId,
    ])
    expect(await endedRuns(now)).toContainEqual(second)
  })

  it('counts from the end that the run has, whatever an earlier one has left', async () => {
    const run = await anEndedRun(2)
    const { ended } = indexKeys(test.namespace)
    await test.redis.zadd(ended, 'XX', 7, `${run.projectId}/${run.runId}`)
    await test.ledger.deactivate(run)
    const { endedAt } = await test.ledger.getRun(run.runId)
    expect(await test.redis.zscore(ended, `${run.projectId}/${run.runId}`)).toBe(String(endedAt))
  })
})
