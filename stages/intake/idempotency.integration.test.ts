import { describe, expect, it } from 'vitest'
import { newRunId } from '#domain/ids.ts'
import { testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { IdempotencyHeader, openIdempotencyStore } from './idempotency.ts'

const test = useOpened(testLedger)

const record = () => ({ bodyHash: 'body', runId: newRunId(Date.now()) })

describe('openIdempotencyStore', () => {
  it('gives a key to exactly one of many who claim it at once', async () => {
    const store = openIdempotencyStore(test.redis, test.namespace)
    const holders = await Promise.all(Array.from({ length: 20 }, () => store.claim('default', 'k1', record())))
    expect(new Set(holders.map((holder) => JSON.stringify(holder))).size).toBe(1)
    expect(await store.find('default', 'k1')).toEqual(holders[0])
  })

  it('keeps projects apart', async () => {
    const store = openIdempotencyStore(test.redis, test.namespace)
    await store.claim('alpha', 'k2', record())
    expect(await store.find('beta', 'k2')).toBeUndefined()
  })

  it('forgets a key after a day and never stores its text', async () => {
    const store = openIdempotencyStore(test.redis, test.namespace)
    await store.claim('default', 'my-order-4711', record())
    const keys = await test.redis.keys(`${test.namespace}:*`)
    expect(keys.join()).not.toContain('4711')
    for (const key of keys) expect(await test.redis.ttl(key)).toBeGreaterThan(23 * 3600)
  })
})

describe('IdempotencyHeader', () => {
  const taken = (key?: string) =>
    IdempotencyHeader.safeParse(key === undefined ? {} : { 'idempotency-key': key }).success

  it.for(['', 'two words', 'x'.repeat(256), 'ö'])('refuses %j', (key) => {
    expect(taken(key)).toBe(false)
  })

  it('takes what clients send', () => {
    expect(taken('8e03978e-40d5-43e8-bc93-6894a57f9324')).toBe(true)
    expect(taken()).toBe(true)
  })
})
