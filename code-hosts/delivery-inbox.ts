import { z } from 'zod'
import type { ProjectId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { orStoreError } from '#store/ledger/store.ts'
import type { Log } from '#platform/log.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import type { Signer } from '#platform/signer.ts'
import { Delivery, HandledDelivery } from './delivery.ts'

export type DeliveryInbox = ReturnType<typeof openDeliveryInbox>

/** `entry` is the handle with which the delivery is ended. */
export type TakenDelivery = { entry: string; delivery: Delivery }
type Entry = Pick<TakenDelivery, 'entry'>
type Ended = Entry & Partial<TakenDelivery>

/** `silentMs`: who takes a delivery and does not end it for so long has died, and another one takes it. */
type InboxOptions = { signer: Signer; silentMs?: number; log?: Pick<Log, 'warn'> }

type Redis = Pick<RedisClient, 'call' | 'eval' | 'exists' | 'xgroup' | 'xlen' | 'xrange' | 'xrevrange'>

const group = 'publisher'
/** Is longer than GitHub can send a webhook again: it keeps them for three days. */
const seenSeconds = 5 * 86_400
const usualSilenceMs = 60_000
const leastKeepMs = 50
/** A delivery that cannot be handled so long after it has arrived is given up. */
const longestMs = 24 * 3_600_000
const mostHandled = 10_000
const handledPage = 500

const putScript = `
for at = 2, #KEYS do
  if not redis.call('SET', KEYS[at], '1', 'NX', 'EX', ARGV[2]) then return 'seen' end
end
redis.call('XADD', KEYS[1], '*', 'd', ARGV[1], 'at', ARGV[3], 's', ARGV[4])
return 'new'`
const refuseScript = `
if not redis.call('SET', KEYS[2], '1', 'NX', 'EX', ARGV[2]) then return 0 end
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[3], '*', 'h', ARGV[1])
return 1`
const endScript = `
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
if redis.call('XDEL', KEYS[1], ARGV[2]) == 0 then return 'ended before' end
if ARGV[3] ~= '' then redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[4], '*', 'h', ARGV[3]) end
if KEYS[3] then redis.call('DEL', KEYS[3]) end
return 'ended'`

/** ARGV: the group, the consumer, for how long it counts as silent from now on, and entries. Answers those that are not its own any more. */
const claimScript = `
local lost = {}
for at = 4, #ARGV do
  local held = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[at], ARGV[at], 1)[1]
  if held and held[2] == ARGV[2] then
    redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[at], 'IDLE', ARGV[3], 'JUSTID')
  else lost[#lost + 1] = ARGV[at] end
end
return lost`
const claimedAtOnce = 500

const PutAnswer = z.enum(['new', 'seen'])
const Entries = z.array(z.tuple([z.string(), z.array(z.string())]))
const Claimed = z.tuple([z.string(), Entries]).rest(z.unknown())
const Named = z.looseObject({ deliveryId: z.string().max(64), event: z.string().max(64) })
const Read = z.array(z.tuple([z.string(), Entries])).nullable()

/** Keeps webhooks in Redis until their handling has ended; each is there once, however often it arrives. All of it is in one slot of a cluster. */
export function openDeliveryInbox(
  redis: Redis,
  namespace: string,
  { silentMs = usualSilenceMs, signer, log }: InboxOptions,
) {
  const keys = keysOf(namespace)
  const end = (ended: Ended, handled: HandledDelivery | undefined) => endDelivery(redis, keys, ended, handled)
  return {
    /** Is one durable write. `seen`: it, or one with the same body about which something was done, arrived before. STORE_001 without Redis. */
    async put(delivery: Delivery): Promise<'new' | 'seen'> {
      const [json, at] = [JSON.stringify(delivery), String(Date.now())]
      const args = [json, String(seenSeconds), at, signer.sign('delivery', at, json)]
      const body = isNews(delivery) ? [] : [keys.seen(`body:${delivery.bodyHash}`)]
      const written = [keys.inbox, keys.seen(delivery.deliveryId), ...body]
      return PutAnswer.parse(await orStoreError(redis.eval(putScript, written.length, ...written, ...args)))
    },
    /** Keeps of one that cannot be taken why, once; from then on it counts as arrived. */
    async refuse(handled: HandledDelivery): Promise<void> {
      const args = [JSON.stringify(handled), String(seenSeconds), String(mostHandled)]
      await orStoreError(redis.eval(refuseScript, 2, keys.handled, keys.seen(handled.deliveryId), ...args))
    },
    async hasSeen(deliveryId: string): Promise<boolean> {
      return (await orStoreError(redis.exists(keys.seen(deliveryId)))) === 1
    },
    /** Counts also what somebody has taken. `oldestAt` is when the first of them came, in ms since the epoch. */
    backlog: () => backlogOf(redis, keys.inbox),
    take: openTaker(redis, { inbox: keys.inbox, silentMs, read: openReader({ end, log, signer }) }),
    /** So often a consumer is to `keep` what it has taken. */
    keepMs: Math.max(silentMs / 4, leastKeepMs),
    /** Says that the consumer is still at work on them; returns those that somebody else has taken meanwhile. */
    keep: (consumer: string, taken: readonly Entry[]) => claimed(redis, keys.inbox, { consumer, silentMs: 0 }, taken),
    /** Gives back what the consumer has taken and not begun: the next `take`, of any consumer, may have it. */
    async leave(consumer: string, taken: readonly Entry[]): Promise<void> {
      await claimed(redis, keys.inbox, { consumer, silentMs: silentMs + 1 }, taken)
    },
    /** Ends the handling, and keeps what became of it. Doing it again changes nothing. */
    end: (taken: TakenDelivery, handled: HandledDelivery): Promise<void> => end(taken, handled),
    /** The newest come first. */
    listHandled: (count: number, which: HandledFilter = {}) => listHandled(redis, keys.handled, { count, ...which }),
  }
}

function keysOf(namespace: string) {
  const prefix = `${namespace}:{github}:`
  return { inbox: `${prefix}inbox`, handled: `${prefix}handled`, seen: (id: string) => `${prefix}seen:${id}` }
}

/** The body of one about which nothing was done may come again. */
async function endDelivery(
  redis: Pick<Redis, 'eval'>,
  keys: ReturnType<typeof keysOf>,
  { entry, delivery }: Ended,
  handled: HandledDelivery | undefined,
): Promise<void> {
  const isDone = handled?.outcome === 'acted' || handled?.outcome === 'run'
  const again = delivery === undefined || isDone ? [] : [keys.seen(`body:${delivery.bodyHash}`)]
  const args = [group, entry, handled === undefined ? '' : JSON.stringify(handled), String(mostHandled)]
  await orStoreError(redis.eval(endScript, 2 + again.length, keys.inbox, keys.handled, ...again, ...args))
}

async function backlogOf(redis: Redis, inbox: string): Promise<{ count: number; oldestAt: number | null }> {
  const count = await orStoreError(redis.xlen(inbox))
  const [oldest] = await orStoreError(redis.xrange(inbox, '-', '+', 'COUNT', 1))
  return { count, oldestAt: oldest === undefined ? null : Number.parseInt(oldest[0], 10) }
}

/** Is true when it only says that something is otherwise by now, which is then asked for: the same words may be true again tomorrow. */
function isNews({ body: { kind } }: Delivery): boolean {
  return kind === 'installation' || kind === 'repositories' || kind === 'repository'
}

type HandledFilter = { projectId?: ProjectId | undefined; withoutIgnored?: boolean }

async function listHandled(
  redis: Pick<Redis, 'xrevrange'>,
  key: string,
  { count, projectId, withoutIgnored = false }: HandledFilter & { count: number },
): Promise<HandledDelivery[]> {
  const deliveries: HandledDelivery[] = []
  for (let before = '+'; deliveries.length < count;) {
    const entries = await orStoreError(redis.xrevrange(key, before, '-', 'COUNT', handledPage))
    const handled = entries.flatMap(([, [, text = '']]) => HandledDelivery.safeParse(parseJson(text)).data ?? [])
    const isWanted = (delivery: HandledDelivery) =>
      (projectId === undefined || delivery.projectId === projectId) &&
      !(withoutIgnored && delivery.outcome === 'ignored')
    deliveries.push(...handled.filter(isWanted))
    const [last] = entries.at(-1) ?? []
    if (last === undefined || entries.length < handledPage) break
    before = `(${last}`
  }
  return deliveries.slice(0, count)
}

async function claimed(
  redis: Pick<Redis, 'eval'>,
  inbox: string,
  { consumer, silentMs }: { consumer: string; silentMs: number },
  taken: readonly Entry[],
): Promise<string[]> {
  const lost: string[] = []
  for (let at = 0; at < taken.length; at += claimedAtOnce) {
    const entries = taken.slice(at, at + claimedAtOnce).map(({ entry }) => entry)
    const answer = await orStoreError(redis.eval(claimScript, 1, inbox, group, consumer, String(silentMs), ...entries))
    lost.push(...z.array(z.string()).parse(answer))
  }
  return lost
}

/** Is true when it has waited so long that it is given up. Entries of a stream are named after the time. */
export function isOverdue({ entry }: Entry): boolean {
  return Date.now() - Number.parseInt(entry, 10) >= longestMs
}

type Entries = z.infer<typeof Entries>
type Taker = { inbox: string; silentMs: number; read(entries: Entries): Promise<TakenDelivery[]> }

function openTaker(redis: Redis, { inbox, silentMs, read }: Taker) {
  const ready = async () => {
    await redis.xgroup('CREATE', inbox, group, '0', 'MKSTREAM').catch((error: unknown) => {
      if (!String(error).includes('BUSYGROUP')) throw error
    })
  }
  /** A call looks at some of what is taken, and says where the next one is to go on; after the last it says 0-0. */
  const takeLeft = async (consumer: string, count: number): Promise<TakenDelivery[]> => {
    for (let from = '0-0'; ;) {
      const args = [inbox, group, consumer, String(silentMs), from, 'COUNT', String(count)]
      const [next, entries] = Claimed.parse(await orStoreError(redis.call('xautoclaim', ...args)))
      const left = await read(entries)
      if (left.length > 0 || next === '0-0') return left
      from = next
    }
  }
  /** Those come first that somebody took and did not end. */
  return async (consumer: string, count: number): Promise<TakenDelivery[]> => {
    await orStoreError(ready())
    const left = await takeLeft(consumer, count)
    if (left.length > 0) return left
    const args = ['GROUP', group, consumer, 'COUNT', String(count), 'STREAMS', inbox, '>']
    return read(Read.parse(await orStoreError(redis.call('xreadgroup', ...args)))?.[0]?.[1] ?? [])
  }
}

type ReaderDeps = {
  signer: Signer
  end(entry: Entry, handled: HandledDelivery | undefined): Promise<void>
  log: Pick<Log, 'warn'> | undefined
}

/** An entry without our signature, or signed too long ago, ends as refused. One that cannot be read is left for a day. */
function openReader({ end, log, signer }: ReaderDeps): Taker['read'] {
  return async (entries) => {
    const taken: TakenDelivery[] = []
    for (const [entry, [, text = '', , at = '', , signature]] of entries) {
      const named = Named.safeParse(parseJson(text)).data
      const fields = { entry, delivery_id: named?.deliveryId ?? null, event: named?.event ?? null }
      const isSigned = signer.isSigned(signature, 'delivery', at, text)
      if (!isSigned || Date.now() - Number(at) >= 2 * longestMs) {
        const reason = isSigned ? 'was signed too long ago' : 'is not signed by the API'
        log?.warn('a webhook is refused', { ...fields, error_code: 'PUBLISH_005', reason })
        await end({ entry }, refused(named ?? { deliveryId: '?', event: '?' }, `PUBLISH_005 the webhook ${reason}`))
        continue
      }
      const { data: delivery } = Delivery.safeParse(parseJson(text))
      if (delivery !== undefined) {
        taken.push({ entry, delivery })
        continue
      }
      const isGivenUp = isOverdue({ entry })
      log?.warn('a webhook cannot be read', {
        ...fields,
        what: isGivenUp ? 'is given up' : 'is left to another version',
      })
      if (isGivenUp)
        await end({ entry }, named && refused(named, 'INTAKE_008 no version of Remora that ran here could read it'))
    }
    return taken
  }
}

function refused({ deliveryId, event }: z.infer<typeof Named>, reason: string): HandledDelivery {
  const of = { deliveryId, event, action: null, repository: null, ref: null, runId: null, projectId: null }
  return { ...of, outcome: 'failed', reason, at: Date.now() }
}
