import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { beforeEach, describe, expect, it } from 'vitest'
import { recordedLog } from '#testing/recorded-log.ts'
import { until } from '#testing/until.ts'
import { sha256 } from '#domain/ids.ts'
import { testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import type { Delivery, HandledDelivery } from './delivery.ts'
import { openDeliveryInbox } from './delivery-inbox.ts'
import { testSigner } from '#testing/test-signer.ts'
import { openSigner } from '#platform/signer.ts'

let namespace = ''
const test = useOpened(testLedger)
beforeEach(() => {
  namespace = `${test.namespace}${randomUUID().slice(0, 8)}`
})

const hourMs = 3_600_000
const inboxOf = (silentMs = hourMs) => openDeliveryInbox(test.redis, namespace, { silentMs, signer: testSigner })

const ping = (deliveryId: string): Delivery => ({
  deliveryId,
  event: 'ping',
  bodyHash: sha256(deliveryId),
  installationId: null,
  repository: null,
  sender: null,
  body: { kind: 'ping' },
})

const handled = (deliveryId: string, about: Partial<HandledDelivery> = {}): HandledDelivery => ({
  deliveryId,
  event: 'ping',
  action: null,
  repository: null,
  ref: null,
  outcome: 'ignored',
  reason: 'nothing to do',
  projectId: null,
  runId: null,
  at: 1,
  ...about,
})

const idsOf = (taken: readonly { delivery: Delivery }[]) => taken.map(({ delivery }) => delivery.deliveryId)

describe('the inbox of deliveries', () => {
  it('takes a body once, whatever id it is sent under the next time', async () => {
    const sent = ping('first')
    expect(await inboxOf().put(sent)).toBe('new')
    expect(await inboxOf().put({ ...sent, deliveryId: 'replayed' })).toBe('seen')
    expect(idsOf(await inboxOf().take('a', 10))).toEqual(['first'])
  })

  it('takes a body again about which nothing was done, as of a button that somebody may press by now', async () => {
    const sent = ping('first')
    const sendAgain = async (deliveryId: string) => inboxOf().put({ ...sent, deliveryId })
    for (const outcome of ['ignored', 'failed', 'acted'] as const) {
      expect(await sendAgain(outcome)).toBe('new')
      for (const taken of await inboxOf().take('a', 1)) await inboxOf().end(taken, handled(outcome, { outcome }))
    }
    expect(await sendAgain('replayed')).toBe('seen')
  })

  it('has each delivery once, in the order in which they came', async () => {
    const inbox = inboxOf()
    expect(await inbox.hasSeen('one')).toBe(false)
    const puts = ['one', 'two', 'one', 'three', 'two'].map((id) => inbox.put(ping(id)))
    expect(await Promise.all(puts)).toEqual(['new', 'new', 'seen', 'new', 'seen'])
    expect(await inbox.hasSeen('one')).toBe(true)
    expect(idsOf(await inbox.take('a', 2))).toEqual(['one', 'two'])
    expect(idsOf(await inbox.take('b', 2))).toEqual(['three'])
    expect(await inbox.take('a', 2)).toEqual([])
  })

  it('says how many wait, and since when, also those that somebody works on', async () => {
    const inbox = inboxOf()
    expect(await inbox.backlog()).toEqual({ count: 0, oldestAt: null })
    const before = Date.now()
    for (const id of ['one', 'two']) await inbox.put(ping(id))
    const [taken] = await inbox.take('a', 1)
    const { count, oldestAt } = await inbox.backlog()
    expect(count).toBe(2)
    expect(Math.abs((oldestAt ?? 0) - before)).toBeLessThan(60_000)
    if (taken !== undefined) await inbox.end(taken, handled('one'))
    expect(await inbox.backlog()).toMatchObject({ count: 1 })
  })

  it('gives what a dead consumer has taken to another one, and nothing of a live one', async () => {
    for (const id of ['one', 'two']) await inboxOf().put(ping(id))
    expect(idsOf(await inboxOf().take('dead', 10))).toEqual(['one', 'two'])
    expect(await inboxOf().take('other', 10)).toEqual([])
    await until(() => inboxOf(1).take('other', 10), { holds: ({ length }) => length === 2 })
  })

  it('gives nothing to others that its consumer keeps, and at once what it leaves', async () => {
    const silentMs = 400
    for (const id of ['one', 'two']) await inboxOf().put(ping(id))
    const taken = await inboxOf(silentMs).take('slow', 10)
    for (const end = performance.now() + 2 * silentMs; performance.now() < end;) {
      expect(await inboxOf(silentMs).keep('slow', taken)).toEqual([])
      expect(await inboxOf(silentMs).take('other', 10)).toEqual([])
    }
    await inboxOf(silentMs).leave('slow', taken.slice(1))
    expect(idsOf(await inboxOf(silentMs).take('other', 10))).toEqual(['two'])
    expect(await inboxOf(silentMs).keep('slow', taken)).toEqual([taken[1]?.entry])
  })

  it('finds what a dead consumer has left behind much that others are working on', async () => {
    const count = 300
    for (let at = 0; at <= count; at++) await inboxOf().put(ping(`d${at}`))
    const taken = await inboxOf().take('live', count + 1)
    const last = taken.at(-1)?.entry ?? ''
    // As if its consumer had been silent for two hours.
    await test.redis.call('XCLAIM', `${namespace}:{github}:inbox`, 'publisher', 'dead', 0, last, 'IDLE', 2 * hourMs)
    expect(idsOf(await inboxOf().take('other', 1))).toEqual([`d${count}`])
  })

  it('ends a delivery once, whoever says so, and does not take it again', async () => {
    const inbox = inboxOf(0)
    await inbox.put(ping('one'))
    const [first] = await inbox.take('a', 1)
    const [again] = await inbox.take('b', 1)
    expect(again).toEqual(first)
    if (first === undefined) throw new Error('nothing was taken')
    await inbox.end(first, handled('one', { reason: 'first' }))
    await inbox.end(first, handled('one', { reason: 'second' }))
    expect((await inbox.listHandled(10)).map(({ reason }) => reason)).toEqual(['first'])
    expect(await inbox.take('a', 1)).toEqual([])
    expect(await inbox.put(ping('one'))).toBe('seen')
    expect(await test.redis.xlen(`${namespace}:{github}:inbox`)).toBe(0)
  })

  it('lists what was handled, the newest first, of one project also behind many others', async () => {
    const inbox = inboxOf()
    const many = 1_200
    for (let at = 0; at < many; at++) {
      await inbox.put(ping(`d${at}`))
      const [taken] = await inbox.take('a', 1)
      if (taken) await inbox.end(taken, handled(`d${at}`, { projectId: at % 400 === 0 ? 'shop' : 'other' }))
    }
    const listed = async (count: number, projectId?: string) =>
      (await inbox.listHandled(count, { projectId })).map(({ deliveryId }) => deliveryId)
    expect(await listed(2)).toEqual([`d${many - 1}`, `d${many - 2}`])
    expect(await listed(1_000)).toHaveLength(1_000)
    expect(await listed(10, 'shop')).toEqual(['d800', 'd400', 'd0'])
    expect(await listed(2, 'shop')).toEqual(['d800', 'd400'])
  })

  it('leaves what it cannot read to another version, and ends it after a day', async () => {
    const { log, entries } = recordedLog()
    const inbox = openDeliveryInbox(test.redis, namespace, { silentMs: 0, log, signer: testSigner })
    const add = (id: string, text: string) => {
      const at = String(Date.now())
      const signature = testSigner.sign('delivery', at, text)
      return test.redis.xadd(`${namespace}:{github}:inbox`, id, 'd', text, 'at', at, 's', signature)
    }
    const yesterday = Date.now() - 25 * hourMs
    const ofLater = (deliveryId: string) => JSON.stringify({ ...ping(deliveryId), body: { kind: 'later' } })
    await add(`${yesterday}-0`, ofLater('old'))
    await add(`${yesterday}-1`, 'garbage')
    await add('*', ofLater('new'))
    await inbox.put(ping('readable'))
    expect(idsOf(await inbox.take('a', 10))).toEqual(['readable'])
    expect(entries.map((one) => one['delivery_id'])).toEqual(['old', null, 'new'])
    expect(await inbox.backlog()).toMatchObject({ count: 2 })
    expect(await inbox.listHandled(10)).toMatchObject([{ deliveryId: 'old', outcome: 'failed' }])
    expect(idsOf(await inbox.take('b', 10))).toEqual(['readable'])
    expect(entries).toHaveLength(4)
  })

  it('refuses what nobody with the key has put there, or somebody puts there again days later, and goes on', async () => {
    const { log, entries } = recordedLog()
    const inbox = openDeliveryInbox(test.redis, namespace, { silentMs: 0, log, signer: testSigner })
    const key = `${namespace}:{github}:inbox`
    const click = JSON.stringify(ping('forged'))
    const at = String(Date.now())
    const others = openSigner(['a key of the attacker, as long as it must be'])
    await test.redis.xadd(key, '*', 'd', click)
    await test.redis.xadd(key, '*', 'd', click, 'at', at, 's', others.sign('delivery', at, click))
    await inbox.put(ping('mine'))
    const [newest] = await test.redis.xrevrange(key, '+', '-', 'COUNT', 1)
    await test.redis.xadd(key, '*', 'd', click, 'at', at, 's', newest?.[1].at(-1) ?? '')
    const old = String(Date.now() - 49 * hourMs)
    await test.redis.xadd(key, '*', 'd', click, 'at', old, 's', testSigner.sign('delivery', old, click))
    expect(idsOf(await inbox.take('a', 10))).toEqual(['mine'])
    const refused = await inbox.listHandled(10)
    expect(refused.map(({ outcome, reason }) => `${outcome} ${reason}`)).toEqual([
      'failed PUBLISH_005 the webhook was signed too long ago',
      ...Array.from({ length: 3 }, () => 'failed PUBLISH_005 the webhook is not signed by the API'),
    ])
    expect(entries.map((one) => one['error_code'])).toEqual(refused.map(() => 'PUBLISH_005'))
    expect(await inbox.backlog()).toMatchObject({ count: 1 })
  })

  it('says that Redis is away', async () => {
    const gone = new Redis(test.redisUrl, { maxRetriesPerRequest: 0 })
    gone.on('error', () => {})
    await gone.quit()
    await expect(openDeliveryInbox(gone, namespace, { signer: testSigner }).put(ping('one'))).rejects.toMatchObject({
      code: 'STORE_001',
    })
  })
})
