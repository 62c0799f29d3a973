import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { orStoreError } from '#ledger/store.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { Delivery, HandledDelivery } from './delivery.ts'

export type DeliveryInbox = ReturnType<typeof openDeliveryInbox>

/** A delivery that somebody has taken, and the handle with which it is ended. */
export type TakenDelivery = { entry: string; delivery: Delivery }

type Redis = Pick<RedisClient, 'call' | 'eval' | 'exists' | 'xgroup' | 'xrevrange'>

const group = 'publisher'
/** Longer than GitHub can send a webhook again: it keeps them for three days. */
const seenSeconds = 5 * 86_400
/** Who takes a delivery and says nothing for so long has died: another one takes it. */
const silentMs = 60_000
/** Of what became of them, for people. */
const mostHandled = 10_000

const putScript = `
if not redis.call('SET', KEYS[2], '1', 'NX', 'EX', ARGV[2]) then return 'seen' end
redis.call('XADD', KEYS[1], '*', 'd', ARGV[1])
return 'new'`
const endScript = `
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
if redis.call('XDEL', KEYS[1], ARGV[2]) == 0 then return 'ended before' end
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[4], '*', 'h', ARGV[3])
return 'ended'`

const PutAnswer = z.enum(['new', 'seen'])
const Entries = z.array(z.tuple([z.string(), z.array(z.string())]))
const Claimed = z.tuple([z.string(), Entries]).rest(z.unknown())
const Read = z.array(z.tuple([z.string(), Entries])).nullable()

/**
 * The webhooks that have arrived and are not handled yet, in Redis: each is there once, however often it arrives, and stays until its
 * handling has ended. All of it is in one slot of a cluster.
 */
export function openDeliveryInbox(redis: Redis, namespace = 'remora') {
  const prefix = `${namespace}:{github}:`
  const keys = { inbox: `${prefix}inbox`, handled: `${prefix}handled`, seen: (id: string) => `${prefix}seen:${id}` }
  const ready = async () => {
    await redis.xgroup('CREATE', keys.inbox, group, '0', 'MKSTREAM').catch((error: unknown) => {
      if (!String(error).includes('BUSYGROUP')) throw error
    })
  }
  return {
    /** One durable write. `seen`: it arrived before, and is or was handled. STORE_001 when Redis is away. */
    async put(delivery: Delivery): Promise<'new' | 'seen'> {
      const args = [JSON.stringify(delivery), String(seenSeconds)]
      return PutAnswer.parse(
        await orStoreError(redis.eval(putScript, 2, keys.inbox, keys.seen(delivery.deliveryId), ...args)),
      )
    },
    /** Whether a delivery has arrived in the last days. */
    async hasSeen(deliveryId: string): Promise<boolean> {
      return (await orStoreError(redis.exists(keys.seen(deliveryId)))) === 1
    },
    /** The next ones, those first that somebody took and did not end; none: there was nothing to take now. */
    async take(consumer: string, count: number): Promise<TakenDelivery[]> {
      await orStoreError(ready())
      const left = await orStoreError(
        redis.call('XAUTOCLAIM', keys.inbox, group, consumer, String(silentMs), '0', 'COUNT', String(count)),
      )
      const claimed = Claimed.parse(left)[1].flatMap(takenOf)
      if (claimed.length > 0) return claimed
      const read = await orStoreError(
        redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', String(count), 'STREAMS', keys.inbox, '>'),
      )
      return (Read.parse(read)?.[0]?.[1] ?? []).flatMap(takenOf)
    },
    /** Ends the handling, and keeps what became of it. Doing it again changes nothing. */
    async end(taken: Pick<TakenDelivery, 'entry'>, handled: HandledDelivery): Promise<void> {
      const args = [group, taken.entry, JSON.stringify(handled), String(mostHandled)]
      await orStoreError(redis.eval(endScript, 2, keys.inbox, keys.handled, ...args))
    },
    /** The newest first. */
    async listHandled(count: number): Promise<HandledDelivery[]> {
      const entries = await orStoreError(redis.xrevrange(keys.handled, '+', '-', 'COUNT', count))
      return entries.flatMap(([, [, text = '']]) => HandledDelivery.safeParse(parseJson(text)).data ?? [])
    },
  }
}

function takenOf([entry, [, text = '']]: z.infer<typeof Entries>[number]): TakenDelivery[] {
  const { data: delivery } = Delivery.safeParse(parseJson(text))
  return delivery === undefined ? [] : [{ entry, delivery }]
}
