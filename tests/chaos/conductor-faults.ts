import { randomUUID } from 'node:crypto'
import { delay } from '#platform/clock.ts'
import type { Event } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import type { Random } from '#platform/seeded-random.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { tellWithRetries } from './chaos-clients.ts'
import type { ChaosStack } from './chaos-stack.ts'
import { allEvents } from './check-run.ts'
import { deleteJobs } from './queue-faults.ts'

const pollMs = 15

/** Only an open conductor has an inbox, and one that has claimed a step has counted its messages. */
const double = `
if redis.call('HGET', KEYS[1], 'conductor') ~= 'open' then return 0 end
redis.call('RPUSH', KEYS[2], ARGV[1])
return redis.call('HINCRBY', KEYS[1], 'messages', 1)`
const lose = `
if redis.call('HGET', KEYS[1], 'conductor') ~= 'open' or redis.call('HEXISTS', KEYS[3], 'token') == 1 then return 0 end
local message = redis.call('LINDEX', KEYS[2], 0)
if not message or cjson.decode(message).kind ~= 'item_ended' then return 0 end
redis.call('LPOP', KEYS[2])
redis.call('HINCRBY', KEYS[1], 'messages', -1)
return 1`

/** Sends what items that have ended have told their conductor once more, late. */
export async function doubleMessages({ redis, ledger }: ChaosStack, runId: RunId, forMs: number) {
  const doubled = new Set<number>()
  const { run, inbox } = runKeys('remora', runId)
  await during(forMs, async () => {
    for (const { seq, event, data } of await ledger.readEvents(runId, { after: 0, limit: 1_000 })) {
      if (event !== 'item.ended' || doubled.has(seq)) continue
      const message = JSON.stringify({ kind: 'item_ended', item_id: data['item_id'] })
      if (Number(await redis.eval(double, 2, run, inbox, message)) > 0) doubled.add(seq)
    }
  })
  return `${doubled.size} messages`
}

/** Takes from inboxes, before anybody has looked, that an item has ended. */
export async function loseMessages({ redis }: ChaosStack, runId: RunId, forMs: number) {
  const { run, inbox, agenda } = runKeys('remora', runId)
  let lost = 0
  await during(forMs, async () => void (lost += Number(await redis.eval(lose, 3, run, inbox, agenda))))
  return `${lost} messages`
}

export async function loseWakes({ redis }: ChaosStack, forMs: number, random: Random): Promise<string> {
  let lost = 0
  await during(forMs, async () => void (lost += await deleteJobs(redis, { share: 1, random, queues: ['conductor'] })))
  return `${lost} jobs`
}

/** A message that was taken is in the run's events once; one that comes too early or too late may be refused. */
export function say(stack: ChaosStack, runId: RunId, times: number): Promise<string> {
  return tell(stack, runId, { times, to: 'messages', event: 'objective.extended', statuses: [202, 409] })
}

/** What is asked is taken once, whether the run goes on or has ended. */
export function ask(stack: ChaosStack, runId: RunId, times: number): Promise<string> {
  return tell(stack, runId, { times, to: 'asks', event: 'ask.received', statuses: [202] })
}

type Told = { times: number; to: 'messages' | 'asks'; event: Event['event']; statuses: readonly number[] }

async function tell({ api, ledger }: ChaosStack, runId: RunId, { times, to, event, statuses }: Told): Promise<string> {
  const told = { runId, to, key: randomUUID(), text: `and be quick, ${randomUUID()}` }
  const answers = await Promise.all(Array.from({ length: times }, () => tellWithRetries(api, told)))
  const events = await allEvents(runId, ledger)
  const heard = events.filter((one) => one.event === event && one.data['text'] === told.text).length
  const isGood = answers.every((status) => statuses.includes(status)) && heard === (answers.includes(202) ? 1 : 0)
  return `${isGood ? '' : 'could not be said: '}answered ${answers.join(', ')}, heard ${heard} times`
}

async function during(forMs: number, act: () => Promise<void>): Promise<void> {
  for (const end = performance.now() + forMs; performance.now() < end; await delay(pollMs)) await act()
}
