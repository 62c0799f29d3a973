import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { runPrefix } from '#store/objects/object-keys.ts'
import { aCost, anOutcome, aPlannedOperation, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import type { Attempt } from './attempt.ts'
import { runKeys } from './keys.ts'
import { openLedger } from './ledger.ts'
import { openRetention } from './retention.ts'

let test: TestLedger
let store: TestObjects
beforeAll(async () => {
  test = await testLedger()
  store = await testObjects()
})
afterAll(async () => {
  await test.close()
  await store.close()
})

const secret = 'a-configured-password'
const ledger = () =>
  openLedger(test.redis, {
    namespace: test.namespace,
    archive: openEventSegments(store.objects),
    redactor: openRedactor([secret]),
  })

const works = ['a', 'b', 'c', 'd', 'e'].map((name) => aPlannedOperation(name))
const say = (attempt: Attempt, n: number, talk: object) => ledger().append(attempt, n, { events: [], talk })
const saidBy = (of: Attempt) => ledger().readTalk(of, of)
const keptOf = async ({ runId, operationId }: Attempt) =>
  (await test.ledger.getOperation(runId, operationId)).keptAttempts
const violations = async (runId: RunId) => (await ledger().verify(runId)).violations

it('what an attempt says is there while it runs, whole and without secrets, and goes with it where a record has it', async () => {
  const runId = await test.executing(works)
  const [settles, asks, goesOn] = await test.claimReady(runId)
  if (!settles || !asks || !goesOn) throw new Error('three attempts')
  const text = 'ß\n'.repeat(500_000)
  for (const attempt of [settles, asks, goesOn]) {
    expect(await saidBy(attempt)).toEqual([])
    await say(attempt, 1, { text: `the key is ${secret}` })
    await say(attempt, 1, { text: 'that was sent before' })
    await say(attempt, 2, { text })
    expect(await saidBy(attempt)).toEqual([{ text: 'the key is [secret]' }, { text }])
  }
  const key = runKeys(test.namespace, runId).talk(settles.operationId)
  expect((await test.redis.lrange(key, 0, -1)).join('').length).toBeLessThan(500)

  await ledger().settle(settles, 3, { outcome: anOutcome({ recordHash: 'r' }), events: [] })
  const question = { text: 'Shall I?', choices: null }
  await ledger().suspend(asks, 3, { question, answerWithinMs: 60_000, recordHash: 'r', spent: aCost, events: [] })
  await ledger().release(goesOn, 3, { reason: 'drain', resume: { recordHash: 'r', spent: aCost }, events: [] })
  for (const attempt of [settles, asks, goesOn]) {
    expect(await saidBy(attempt)).toEqual([])
    expect(await keptOf(attempt)).toEqual([])
  }
  expect(await violations(runId)).toEqual([])
})

it('the version of what an attempt says changes when it says more or ends, not with a sign of life', async () => {
  const [attempt] = await test.claimReady(await test.executing(works))
  if (attempt === undefined) throw new Error('no attempt')
  const versions = new Set<string>()
  const count = async () => versions.add(await ledger().talkVersion(attempt.runId, attempt.operationId)).size
  expect(await count()).toBe(1)
  await say(attempt, 1, { text: 'first' })
  expect(await count()).toBe(2)
  await ledger().append(attempt, 2, { events: [] })
  expect(await count()).toBe(2)
  await ledger().settle(attempt, 3, { outcome: anOutcome({ recordHash: 'r' }), events: [] })
  expect(await count()).toBe(3)
})

it('what an attempt has said that left no record is kept, in the object store, until the run is deleted', async () => {
  const runId = await test.executing(works)
  const attempts = await test.claimReady(runId)
  const [handsBack, fails, isLost, saysNothing, isSilent] = attempts
  if (!handsBack || !fails || !isLost || !saysNothing || !isSilent) throw new Error('five attempts')
  const first = { text: 'first' }
  for (const attempt of [handsBack, fails, isLost, saysNothing]) await say(attempt, 1, first)
  await ledger().release(handsBack, 2, { reason: 'drain', said: [{ text: secret }], events: [] })
  await ledger().settle(fails, 2, { outcome: anOutcome({ status: 'failed' }), events: [] })
  await ledger().release(saysNothing, 2, { reason: 'models', events: [] })
  await ledger().sweep(runId, 'abandoned')
  expect(await violations(runId)).toEqual([])

  const [again] = await test.claimReady(runId)
  if (again === undefined) throw new Error('an attempt more')
  const before = attempts.find(({ operationId }) => operationId === again.operationId) ?? again
  await say(again, 1, { text: 'again' })
  const check = async () => {
    expect(await saidBy(handsBack)).toEqual([first, { text: '[secret]' }])
    expect(await saidBy(isLost)).toEqual([first])
    expect(await saidBy(fails)).toEqual([first])
    expect(await saidBy(again)).toEqual([{ text: 'again' }])
    expect(await saidBy(before)).not.toContainEqual({ text: 'again' })
    for (const attempt of [saysNothing, isSilent]) expect(await keptOf(attempt)).toEqual([])
    for (const attempt of [handsBack, fails, isLost]) expect(await keptOf(attempt)).toEqual([1])
  }
  await check()
  const { past, talk } = runKeys(test.namespace, runId)
  expect(await test.redis.scard(past)).toBe(3)
  await Promise.all([ledger().archiveEvents(runId), ledger().archiveEvents(runId)])
  expect(await test.redis.exists(past, talk(`${fails.operationId}:1`))).toBe(0)
  await check()
  const stored = await Array.fromAsync(store.objects.list(`${runPrefix(fails.projectId, runId)}attempts/`))
  expect(stored).toHaveLength(3)

  await ledger().release(again, 2, { reason: 'drain', said: [], events: [] })
  await test.redis.rpush(talk(fails.operationId), 'stray')
  expect(await violations(runId)).toMatchObject([
    { invariant: 2, message: expect.stringContaining('what it says is there') },
  ])
  await test.redis.hset(runKeys(test.namespace, runId).run, 'status', 'cancelled')
  await openRetention(test.redis, test.namespace).forgetRun({ projectId: fails.projectId, runId })
  expect(await test.redis.keys(`${test.namespace}:{${runId}}:*`)).toEqual([])
})
