import { describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { anEvent, anOutcome, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import type { NewDecision } from './decisions.ts'
import { openRetention } from './retention.ts'
import { runKeys } from './keys.ts'
import { dayOf } from './usage.ts'

const test = useOpened(testLedger)

const operation = aPlannedOperation('changed')
const person = { kind: 'human', id: 't1' } as const

async function runWithSets(...changeSetIds: string[]): Promise<RunId> {
  const runId = await test.executing([operation])
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  await test.ledger.settle(attempt, 1, { outcome: anOutcome({ changeSetIds, recordHash: 'r' }), events: [anEvent()] })
  return runId
}

async function ended(runId: RunId): Promise<RunId> {
  await test.ledger.relayResults(runId)
  const from = [{ status: 'running', phase: 'review' }] as const
  const events = [anEvent({ event: 'run.completed', phase: 'review' })]
  expect(await test.ledger.move(runId, { from, to: { status: 'completed' }, command: 'end', events })).toBe('moved')
  return runId
}

type More = { reason?: string; before?: NewDecision['verdict'] }

function deciding(changeSetId: string, verdict: NewDecision['verdict'], more: More = {}): NewDecision {
  const { reason = null, before = 'pending' } = more
  const { operationId, node, bundle: agent } = operation
  return { changeSetId, verdict, before, reason, operationId, recordHash: 'r', node, agent }
}

const violations = async (runId: RunId) => (await test.ledger.verify(runId)).violations

describe('decisions', () => {
  it('are not made when somebody else has decided since they were looked at', async () => {
    const runId = await runWithSets('c1', 'c2')
    const decide = (id: string, last: number) =>
      test.ledger.decide(runId, { last, decisions: [deciding(id, 'accepted')], by: person })
    const [one, other] = await Promise.all([decide('c1', 0), decide('c2', 0)])
    expect([one, other].filter((made) => made === undefined)).toHaveLength(1)
    expect((await test.ledger.readDecisions(runId)).byChangeSet.size).toBe(1)
    expect(await violations(runId)).toEqual([])
  })

  it('need a run that is known, and are forgotten with it', async () => {
    const runId = await ended(await runWithSets('c1'))
    await test.ledger.decide(runId, { last: 0, decisions: [deciding('c1', 'accepted')], by: person })
    const { projectId } = await test.ledger.getRun(runId)
    await openRetention(test.redis, test.namespace).forgetRun({ projectId, runId })
    await expect(test.ledger.readDecisions(runId)).rejects.toMatchObject({ code: 'RUN_001' })
    await expect(
      test.ledger.decide(runId, { last: 0, decisions: [deciding('c1', 'accepted')], by: person }),
    ).rejects.toMatchObject({ code: 'RUN_001' })
    expect(await test.redis.keys(`${test.namespace}:{${runId}}:*`)).toEqual([])
  })

  it('count in the usage of the project as they are now, and once and for all when the run is deleted', async () => {
    const runId = await ended(await runWithSets('c1', 'c2'))
    const run = await test.ledger.getRun(runId)
    const used = async () => {
      const rows = await test.ledger.readUsage(run.projectId, [dayOf(run.acceptedAt)])
      const sum = (of: 'proposed' | 'accepted') => rows.reduce((total, { usage }) => total + usage[of], 0)
      return { proposed: sum('proposed'), accepted: sum('accepted') }
    }
    const before = await used()
    const both = [deciding('c1', 'accepted'), deciding('c2', 'accepted')]
    const made = await test.ledger.decide(runId, { last: 0, decisions: both, by: person })
    const [last = 0] = (made ?? []).map(({ version }) => version).slice(-1)
    expect((await used()).accepted).toBe(before.accepted + 2)
    const back = [deciding('c2', 'pending', { before: 'accepted' })]
    await test.ledger.decide(runId, { last, decisions: back, by: person })
    const kept = { ...before, accepted: before.accepted + 1 }
    expect(await used()).toEqual(kept)
    const retention = openRetention(test.redis, test.namespace)
    await Promise.all([retention.forgetRun(run), retention.forgetRun(run)])
    expect(await used()).toEqual(kept)
    expect(before.proposed).toBeGreaterThanOrEqual(2)
  })

  it('are checked against the events by verify', async () => {
    const runId = await runWithSets('c1')
    await test.ledger.decide(runId, { last: 0, decisions: [deciding('c1', 'accepted')], by: person })
    const keys = runKeys(test.namespace, runId)
    const stored = (await test.redis.hget(keys.decisions, 'c1')) ?? ''
    await test.redis.hset(keys.decisions, 'c1', stored.replace('accepted', 'rejected'))
    const { seq } = await test.ledger.getRun(runId)
    const messages = (await violations(runId)).map(({ message }) => message)
    expect(messages).toContain(`change set c1 is rejected by event ${seq}, its events say accepted by event ${seq}`)
    expect(messages).toContain('1 change sets of lint are counted as accepted, 0 are')
  })
})
