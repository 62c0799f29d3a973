import { describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { aCost, anEvent, anOutcome, aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import { storedEvents } from './stored-events.ts'
import { runKeys, type RunKeys } from './keys.ts'
import { openLedger } from './ledger.ts'

const test = useOpened(testLedger)

const root = aPlannedOperation('root')
const child = aPlannedOperation('child', {}, [root])
const failing = aPlannedOperation('failing')
const skipped = aPlannedOperation('skipped', {}, [failing])

/** A run that is over: root and child succeeded, failing failed, skipped was skipped; 20 events. */
async function endedRun(): Promise<RunId> {
  const runId = await test.executing([root, child, failing, skipped])
  for (let attempts = await test.claimReady(runId); attempts.length > 0; attempts = await test.claimReady(runId)) {
    for (const attempt of attempts) {
      const status = attempt.node.name === 'failing' ? 'failed' : 'succeeded'
      await test.ledger.append(attempt, 1, { events: [anEvent()] })
      const errorCode = status === 'failed' ? { errorCode: 'AGENT_004' } : {}
      await test.ledger.settle(attempt, 2, { outcome: anOutcome({ status, ...errorCode }), events: [] })
    }
  }
  await test.ledger.relayResults(runId)
  const events = [anEvent({ event: 'run.completed', phase: 'review' })]
  const change = {
    from: [{ status: 'running', phase: 'review' }],
    to: { status: 'completed' },
    command: 'end',
  } as const
  expect(await test.ledger.move(runId, { ...change, events })).toBe('moved')
  return runId
}

async function addEvent(keys: RunKeys, event: ReturnType<typeof anEvent>): Promise<void> {
  const seq = await test.redis.hincrby(keys.run, 'seq', 1)
  const owner = { runId: 'r1', projectId: 'default' }
  const [, body] = await storedEvents({ redactor: openRedactor(), archive: undefined }, owner, [event])
  await test.redis.xadd(keys.events, `${seq}-0`, 'm', Date.now(), 'j', body ?? '')
}

const withResult = (runId: RunId, operationId: string) => ['run_id', runId, 'operation_id', operationId, 'result', '{}']

const damages: [
  name: string,
  invariant: number,
  damage: (keys: RunKeys, runId: RunId) => Promise<unknown>,
  says: RegExp,
][] = [
  ['an event is gone', 1, (keys) => test.redis.xdel(keys.events, '4-0'), /events 4 to 4 are missing/],
  ['the last event is gone', 1, (keys) => test.redis.xdel(keys.events, '18-0'), /the last event is 17/],
  [
    'a counter is off',
    2,
    (keys) => test.redis.hincrby(keys.run, 'n:failed', 1),
    /2 operations are counted as failed, 1/,
  ],
  [
    'events are counted that are not there',
    2,
    (keys) => test.redis.hincrby(keys.tally, 'tool.called', 1),
    /1 events tool\.called are counted, the run has 0/,
  ],
  [
    'it is noted what an attempt does that has ended',
    2,
    (keys) => test.redis.hset(keys.doing, root.operationId, '{}'),
    /does not run, and it is noted what it does/,
  ],
  [
    'tokens are counted that no event has',
    2,
    (keys) => test.redis.hincrby(keys.run, 'tokens_in', 1),
    /the run has counted 1 and 0 tokens, its events have 0 and 0/,
  ],
  ['tokens are counted besides', 2, (keys) => test.redis.hincrby(keys.run, 'tokens_besides', 1), /1 tokens .* besides/],
  [
    'a status is not what the events say',
    2,
    (keys) => test.redis.hset(keys.operation(root.operationId), 'status', 'failed'),
    /is failed, its events say succeeded/,
  ],
  ['a set lacks a member', 2, (keys) => test.redis.zrem(keys.ended, root.operationId), /and not in the set ended/],
  [
    'an index has an operation of another status',
    2,
    (keys) => test.redis.zadd(keys.failed, 1, root.operationId),
    /is succeeded and in the index of failed ones/,
  ],
  [
    'failures with a code are counted that there are not',
    2,
    (keys) => test.redis.hincrby(keys.failures, 'AGENT_004', 1),
    /2 failures are counted with AGENT_004, 1 are/,
  ],
  [
    'the first failure with a code is none',
    2,
    (keys) => test.redis.hset(keys.failures, 'AGENT_004:first', root.operationId),
    /is the first failure with AGENT_004, its own is none/,
  ],
  [
    'an operation without findings is in the index of those with',
    2,
    (keys) => test.redis.zadd(keys.reported, 1, root.operationId),
    /operation .* is in the index of those with findings/,
  ],
  [
    'findings are counted that there are not',
    2,
    (keys) => test.redis.hincrby(keys.run, 'findings', 2),
    /2 findings are counted, the outcomes have 0/,
  ],
  ['a set has a stranger', 2, (keys) => test.redis.zadd(keys.ended, 1, 'o0'), /the set ended has o0, which was never/],
  [
    'an attempt ends twice',
    3,
    (keys) =>
      addEvent(
        keys,
        anEvent({ event: 'operation.ended', operationId: root.operationId, data: { status: 'succeeded' } }),
      ),
    /operation\.ended of operation .*: it was succeeded/,
  ],
  [
    'an ended run has an operation without outcome',
    3,
    (keys) => test.redis.hdel(keys.operation(root.operationId), 'outcome'),
    /without an outcome/,
  ],
  [
    'an attempt goes on after its end',
    4,
    (keys) => addEvent(keys, anEvent({ operationId: root.operationId })),
    /turn\.finished of operation .*: it was succeeded, not running/,
  ],
  [
    'an operation started before what it waits for',
    5,
    (keys) => test.redis.rpush(keys.after(skipped.operationId), child.operationId),
    /started although .* is skipped/,
  ],
  [
    'a skipped operation does not wait for its cause',
    5,
    (keys) => test.redis.del(keys.after(failing.operationId)),
    /which it does not wait for/,
  ],
  [
    'a result is published twice',
    6,
    (_, runId) => test.redis.xadd(`${test.namespace}:results`, '*', ...withResult(runId, root.operationId)),
    /is succeeded and has 2 results/,
  ],
  [
    'a result was never published',
    6,
    async (keys) => {
      const entries = await test.redis.xrange(`${test.namespace}:results`, '-', '+')
      const lost = entries.find(
        ([, fields]) => fields.includes(root.operationId) && keys.run.includes(fields[1] ?? '-'),
      )
      await test.redis.xadd(`${test.namespace}:results`, '*', ...withResult('r00000000', 'o'))
      await test.redis.del(`${test.namespace}:results`)
      for (const [, fields] of entries.filter((entry) => entry !== lost)) {
        await test.redis.xadd(`${test.namespace}:results`, '*', ...fields)
      }
    },
    /is succeeded and has 0 results/,
  ],
]

describe('verify', () => {
  it('finds nothing wrong with a run nobody damaged', async () => {
    const runId = await endedRun()
    expect(await test.ledger.verify(runId)).toEqual({ violations: [], events: 18, operations: 4 })
  })

  it.each(damages)('sees that %s (invariant %i)', async (_name, invariant, damage, says) => {
    const runId = await endedRun()
    await damage(runKeys(test.namespace, runId), runId)
    const { violations } = await test.ledger.verify(runId)
    expect(violations).toContainEqual({ invariant, message: expect.stringMatching(says) })
  })

  it.each([
    [
      'is in no set of its status',
      (keys: RunKeys) => test.redis.zrem(keys.ready, root.operationId),
      /and not in the set/,
    ],
    [
      'is in two sets of its status',
      (keys: RunKeys) => test.redis.zadd(keys.suspects, 1, root.operationId),
      /more than/,
    ],
    [
      'is in the set of another',
      (keys: RunKeys) => test.redis.zadd(keys.dispatched, 1, root.operationId),
      /dispatched$/,
    ],
  ])('sees that a ready operation %s (invariant 2)', async (_name, damage, says) => {
    const runId = await test.executing([root, failing])
    expect((await test.ledger.verify(runId)).violations).toEqual([])
    await damage(runKeys(test.namespace, runId))
    const { violations } = await test.ledger.verify(runId)
    expect(violations).toEqual([{ invariant: 2, message: expect.stringMatching(says) }])
  })

  it.each([
    [
      'is of a generation that the run has not had',
      (again: string, { operation }: RunKeys) => test.redis.hset(operation(again), 'gen', '3'),
      [/is of generation 3, the run has had 2/, /its id is not that of .* in generation 3/],
    ],
    [
      'is of the generation of what it repeats',
      (again: string, { operation }: RunKeys) => test.redis.hset(operation(again), 'gen', '1'),
      [/its id is not that of .* in generation 1/, /which is of generation 1, and is itself of 1/],
    ],
  ])('sees that a record of a retry %s (invariant 2)', async (_name, damage, says) => {
    const runId = await endedRun()
    const [again] = await test.reopened(runId, [failing])
    expect((await test.ledger.verify(runId)).violations).toEqual([])
    await damage(again?.operationId ?? '', runKeys(test.namespace, runId))
    const expected = says.map((message) => ({ invariant: 2, message: expect.stringMatching(message) }))
    expect((await test.ledger.verify(runId)).violations).toEqual(expected)
  })

  it.each([
    [
      'is not open any more',
      (keys: RunKeys) => test.redis.hset(keys.questions, 'q1:end', JSON.stringify({ status: 'expired' })),
      [/question q1 is expired, .* say open/, /waits for q1, which is not open for it/],
    ],
    [
      'was asked by another',
      (keys: RunKeys) => test.redis.hset(keys.operation(root.operationId), 'question', 'q2'),
      [/waits for q2, which is not open for it/, /question q1 is open, .* does not wait for it/],
    ],
    ['is in no set', (keys: RunKeys) => test.redis.del(keys.waiting), [/is waiting and not in the set waiting/]],
    [
      'does not let its run wait',
      (keys: RunKeys) => test.redis.hset(keys.run, 'status', 'running'),
      [/the run is running, its events say that it waits/],
    ],
  ])('sees that the question an operation waits for %s (invariant 2)', async (_name, damage, says) => {
    const runId = await test.executing([root])
    const [attempt] = await test.claimReady(runId)
    if (attempt === undefined) throw new Error('nothing was ready')
    const question = { text: 'Shall I?', choices: null }
    await test.ledger.suspend(attempt, 1, {
      question,
      answerWithinMs: 60_000,
      recordHash: 'r',
      spent: aCost,
      events: [],
    })
    expect((await test.ledger.verify(runId)).violations).toEqual([])
    await damage(runKeys(test.namespace, runId))
    const expected = says.map((message) => ({ invariant: 2, message: expect.stringMatching(message) }))
    expect((await test.ledger.verify(runId)).violations).toEqual(expected)
  })

  it('tells of an archived segment that is gone (invariant 1), and reads on after it', async () => {
    const store = await testObjects()
    const { namespace, redis } = test
    const ledger = openLedger(redis, { namespace, archive: openEventSegments(store.objects) })
    const runId = await test.executing([root])
    const [attempt] = await test.claimReady(runId)
    if (attempt === undefined) throw new Error('nothing was ready')
    await ledger.append(attempt, 1, { events: Array(2_500).fill(anEvent()) })
    await ledger.archiveEvents(runId, { keep: 0 })
    expect((await ledger.verify(runId)).violations).toEqual([])
    const { projectId, seq } = await ledger.getRun(runId)
    await store.objects.delete(objectKeys.eventSegment(projectId, runId, { first: 1_001, last: 2_000 }))
    // What another reader keeps in memory proves nothing.
    const proof = await openLedger(redis, { namespace, archive: openEventSegments(store.objects) }).verify(runId)
    expect(proof.violations).toEqual([{ invariant: 1, message: expect.stringContaining('events 1001 to 2000 are') }])
    expect(proof.events).toBe(seq - 1_000)
    await store.close()
  })

  it('does not take results for lost that the stream has trimmed', async () => {
    const runId = await endedRun()
    await test.redis.xtrim(`${test.namespace}:results`, 'MAXLEN', 0)
    expect((await test.ledger.verify(runId)).violations).toEqual([])
  })
})
