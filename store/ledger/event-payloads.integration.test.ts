import { afterAll, beforeAll, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { runPrefix } from '#store/objects/object-keys.ts'
import { openEventSegments } from '#store/objects/event-segments.ts'
import { anEvent, aPlannedOperation, testLedger, type TestLedger } from '#testing/open-test-ledger.ts'
import { testObjects, type TestObjects } from '#testing/s3.ts'
import { runKeys } from './keys.ts'
import { openLedger } from './ledger.ts'

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
/** A ledger of its own memory, as another process has it. */
const ledgerOver = (objects: Parameters<typeof openEventSegments>[0] = store.objects) =>
  openLedger(test.redis, {
    namespace: test.namespace,
    archive: openEventSegments(objects),
    redactor: openRedactor([secret]),
  })

async function running() {
  const runId = await test.executing([aPlannedOperation('only')])
  const [attempt] = await test.claimReady(runId)
  if (attempt === undefined) throw new Error('nothing was ready')
  const { seq } = await test.ledger.getRun(runId)
  return { runId, attempt, seq }
}

const text = 'ß\n'.repeat(500_000)
const large = anEvent({ event: 'tool.called', data: { turn: 1, call_id: 'c', arguments: `${text} ${secret}` } })

async function dataOf(runId: RunId, seq: number) {
  const [event] = await ledgerOver().readEvents(runId, { after: seq - 1, limit: 1 })
  return event?.data['arguments']
}

it('an event with a megabyte of data is whole for every reader, and small in Redis, also when it is archived', async () => {
  const { runId, attempt, seq } = await running()
  await ledgerOver().append(attempt, 1, { events: [large] })
  const [entry] = await test.redis.xrange(runKeys(test.namespace, runId).events, `${seq + 1}-0`, `${seq + 1}-0`)
  expect(JSON.stringify(entry).length).toBeLessThan(500)
  const read = String(await dataOf(runId, seq + 1))
  expect(read.startsWith(text)).toBe(true)
  expect(read).not.toContain(secret)
  const keys = await Array.fromAsync(store.objects.list(runPrefix(attempt.projectId, runId)))
  expect(JSON.stringify(keys)).toContain('/payloads/')
  expect((await ledgerOver().verify(runId)).violations).toEqual([])

  const more = { events: Array.from({ length: 1_000 - seq - 1 }, () => anEvent()) }
  await ledgerOver().append(attempt, 2, more)
  expect(await ledgerOver().archiveEvents(runId, { keep: 0 })).toBe(1)
  expect(await dataOf(runId, seq + 1)).toBe(read)
})

it('the events of other stages are whole and small in Redis in the same way', async () => {
  const runId = await test.executing([aPlannedOperation('only')])
  const { seq } = await test.ledger.getRun(runId)
  const planned = anEvent({ event: 'run.planned', phase: 'planning', data: { notices: [text] } })
  const change = {
    from: [{ status: 'running' }],
    to: { phase: 'review' },
    command: 'large',
    events: [planned],
  } as const
  expect(await ledgerOver().move(runId, change)).toBe('moved')
  const [entry] = await test.redis.xrange(runKeys(test.namespace, runId).events, `${seq + 1}-0`, '+')
  expect(JSON.stringify(entry).length).toBeLessThan(500)
  const [event] = await ledgerOver().readEvents(runId, { after: seq, limit: 1 })
  expect(event?.data['notices']).toEqual([text])
})

it('while objects cannot be written nothing of the batch is, and sent again it is there once', async () => {
  const { runId, attempt, seq } = await running()
  const away = async () => Promise.reject(new AppError('STORE_002', 'the object store is away'))
  const told = { events: [anEvent(), large] }
  await expect(ledgerOver({ ...store.objects, get: away, put: away }).append(attempt, 1, told)).rejects.toMatchObject({
    code: 'STORE_002',
  })
  expect((await test.ledger.getRun(runId)).seq).toBe(seq)
  await ledgerOver().append(attempt, 1, told)
  await ledgerOver().append(attempt, 1, told)
  expect((await test.ledger.getRun(runId)).seq).toBe(seq + 2)
})

it('data that is gone is said to be, also by verify', async () => {
  const { runId, attempt, seq } = await running()
  await ledgerOver().append(attempt, 1, { events: [large] })
  for await (const { key } of store.objects.list(runPrefix(attempt.projectId, runId))) await store.objects.delete(key)
  await expect(dataOf(runId, seq + 1)).rejects.toMatchObject({ code: 'STORE_003' })
  expect((await ledgerOver().verify(runId)).violations).toContainEqual({
    invariant: 1,
    message: expect.stringContaining('payloads'),
  })
})

it('what an answer has cost counts, also where its event is too large for Redis', async () => {
  const { runId } = await running()
  const fault = { ask_id: 'a0123456789abcdef', error_code: 'POLICY_002', reason: text }
  const head = { event: 'ask.failed', phase: 'execution', origin: { kind: 'conductor', id: 'c1' } } as const
  const event = { ...head, data: { ...fault, prompt_tokens: 70, completion_tokens: 5 } } as const
  await ledgerOver().whileHolding(runId, 'answering', (_lost, token) => ledgerOver().endAsk(runId, { token, event }))
  expect(await ledgerOver().getRun(runId)).toMatchObject({ tokensIn: 70, tokensOut: 5 })
  expect((await ledgerOver().verify(runId)).violations).toEqual([])
})
