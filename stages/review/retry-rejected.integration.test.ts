import { beforeEach, describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import type { RunRequest } from '#domain/run.ts'
import { indexKeys } from '#store/ledger/keys.ts'
import { openRetention } from '#store/ledger/retention.ts'
import { silentLog } from '#platform/log.ts'
import { until } from '#testing/until.ts'
import { anEvent, anOutcome, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { retryRejected, runRejectedRetries } from './retry-rejected.ts'

const test = useOpened(testLedger)
/** Ignores the runs of other examples. */
beforeEach(() => test.redis.del(indexKeys(test.namespace).retrying))

const operation = aPlannedOperation('one')
const deps = () => ({ ledger: test.ledger, log: silentLog })

/** A run whose change was rejected, and is to be tried again. */
async function rejected(request: Partial<RunRequest> = {}): Promise<RunId> {
  const runId = await test.executing([operation], request)
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  await test.ledger.settle(attempt, 1, { outcome: anOutcome({ changeSetIds: ['c1'], recordHash: 'r' }), events: [] })
  const { operationId, node, bundle: agent } = operation
  const set = { changeSetId: 'c1', before: 'pending', operationId, recordHash: 'r', node, agent } as const
  const decisions = [{ ...set, verdict: 'rejected', reason: 'too long', retry: true } as const]
  await test.ledger.decide(runId, { last: 0, decisions, by: { kind: 'human', id: 't1' } })
  return runId
}

async function end(runId: RunId): Promise<void> {
  const events = [anEvent({ event: 'run.completed', phase: 'review' })]
  const to = { status: 'completed' } as const
  await test.ledger.move(runId, { from: [{ status: 'running' }], to, command: 'end', events })
}

const generationOf = async (runId: RunId) => (await test.ledger.getRun(runId)).generation
const notes = async () => (await test.ledger.wantedNotes()).map((note) => note.runId)
/** As if it was noted long ago. */
const age = (runId: RunId) => test.redis.zadd(indexKeys(test.namespace).retrying, 1, runId)

describe('the retries of rejected changes', () => {
  it('start soon after the end of the run, by several processes once', async () => {
    const runId = await rejected()
    const stops = [runRejectedRetries(deps()), runRejectedRetries(deps())]
    await end(runId)
    await until(() => generationOf(runId), { holds: (generation) => generation > 1 })
    await Promise.all(stops.map((stop) => stop()))
    expect(await generationOf(runId)).toBe(2)
    expect(await test.ledger.activeRuns()).toContainEqual(expect.objectContaining({ runId }))
  })

  it('keep the note of a run as long as it goes on, and drop it when all is started', async () => {
    const runId = await rejected()
    await age(runId)
    await retryRejected(deps())
    expect(await notes()).toEqual([runId])
    await end(runId)
    await retryRejected(deps())
    expect(await generationOf(runId)).toBe(2)
    expect(await notes()).toEqual([])
  })

  it('keep a young note, since the decision may still be under way', async () => {
    const runId = await rejected()
    await end(runId)
    await retryRejected(deps())
    expect(await notes()).toEqual([runId])
  })

  it('start for a run that was looked at a moment ago and goes on, as soon as it has ended', async () => {
    const runId = await rejected()
    const looks: Parameters<typeof retryRejected>[1] = new Map()
    await retryRejected(deps(), looks)
    await end(runId)
    await retryRejected(deps(), looks)
    expect(await generationOf(runId)).toBe(2)
  })

  it('are forgotten with the run', async () => {
    const runId = await rejected()
    await end(runId)
    const run = await test.ledger.getRun(runId)
    await openRetention(test.redis, test.namespace).forgetRun(run)
    await retryRejected(deps())
    expect(await notes()).toEqual([])
  })

  it('of a run of another kind of model are left to the processes of that kind', async () => {
    const runId = await rejected({ labels: { 'remora.model': 'rehearsal' } })
    await age(runId)
    await end(runId)
    await retryRejected({ ...deps(), modelKind: 'servers' })
    expect(await notes()).toEqual([runId])
    await retryRejected({ ...deps(), modelKind: 'rehearsal' })
    expect(await generationOf(runId)).toBe(2)
  })

  it('of what failed are waited for as well, where an answer has asked for them', async () => {
    const runId = await test.executing([operation], { labels: { 'remora.model': 'rehearsal' } })
    const [attempt] = await test.claimReady(runId)
    if (attempt === undefined) throw new Error('nothing was ready')
    const question = {
      after: 0,
      bundle: 'watcher',
      text: 'What now?',
      choices: ['yes'],
      acts: { yes: 'retry' } as const,
    }
    const asked = { token: 'w', version: 1, state: {}, events: [anEvent()], questions: [question] }
    await test.ledger.keepWatch(runId, asked)
    const by = { kind: 'human', id: 't1' } as const
    await test.ledger.resume(runId, { requestId: 'q1', text: 'yes', by, command: 'answer' })
    const outcome = anOutcome({ status: 'failed', errorCode: 'AGENT_004' })
    await test.ledger.settle(attempt, 1, { outcome, events: [] })
    await end(runId)
    await age(runId)
    await retryRejected({ ...deps(), modelKind: 'servers' })
    expect(await notes()).toEqual([runId])
    await retryRejected({ ...deps(), modelKind: 'rehearsal' })
    expect(await generationOf(runId)).toBe(2)
  })

  it('start also behind a run whose decisions cannot be read, which is logged and looked at more rarely', async () => {
    const broken = await rejected()
    const runId = await rejected()
    await end(broken)
    await end(runId)
    await age(broken)
    await test.redis.set(`${test.namespace}:{${broken}}:decisions`, 'broken')
    const lines: unknown[] = []
    const log = { ...silentLog, warn: (_message: string, fields?: object) => void lines.push(fields) }
    const looks: Parameters<typeof retryRejected>[1] = new Map()
    await retryRejected({ ...deps(), log }, looks)
    expect(await generationOf(runId)).toBe(2)
    expect(lines).toMatchObject([{ run_id: broken }])
    await retryRejected({ ...deps(), log }, looks)
    expect(lines).toHaveLength(1)
  })
})
