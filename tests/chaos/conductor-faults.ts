import { randomUUID } from 'node:crypto'
import { delay } from '#platform/clock.ts'
import type { RunId } from '#domain/ids.ts'
import type { Random } from '#platform/seeded-random.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { sayWithRetries } from './chaos-clients.ts'
import type { ChaosStack } from './chaos-stack.ts'
import { deleteJobs } from './queue-faults.ts'

const pollMs = 15

/** Lays each message that is found in an inbox there once more. */
export async function doubleMessages(redis: ChaosStack['redis'], forMs: number): Promise<string> {
  const doubled = new Set<string>()
  await during(forMs, async () => {
    for (const key of await inboxes(redis)) {
      for (const message of await redis.lrange(key, 0, -1)) {
        if (doubled.has(`${key} ${message}`)) continue
        doubled.add(`${key} ${message}`)
        // The inbox of a run that is being cleaned away stays away.
        await redis.rpushx(key, message)
      }
    }
  })
  return `${doubled.size} messages`
}

export async function loseWakes({ redis }: ChaosStack, forMs: number, random: Random): Promise<string> {
  let lost = 0
  await during(forMs, async () => void (lost += await deleteJobs(redis, { share: 1, random, queues: ['conductor'] })))
  return `${lost} jobs`
}

/** A message that was taken is in the run's events once; one that comes too early or too late may be refused. */
export async function say({ api, ledger }: ChaosStack, runId: RunId, times: number): Promise<string> {
  const [key, text] = [randomUUID(), `and be quick, ${randomUUID()}`]
  const statuses = await Promise.all(Array.from({ length: times }, () => sayWithRetries(api, { runId, text, key })))
  const events = await ledger.readEvents(runId, { after: 0, limit: 1_000 })
  const heard = events.filter(({ event, data }) => event === 'objective.extended' && data['text'] === text).length
  const isGood =
    statuses.every((status) => status === 202 || status === 409) && heard === (statuses.includes(202) ? 1 : 0)
  return `${isGood ? '' : 'could not be said: '}answered ${statuses.join(', ')}, heard ${heard} times`
}

async function during(forMs: number, act: () => Promise<void>): Promise<void> {
  for (const until = performance.now() + forMs; performance.now() < until; await delay(pollMs)) await act()
}

async function inboxes(redis: ChaosStack['redis']): Promise<string[]> {
  const pattern = runKeys('remora', '*').inbox
  const [, keys] = await redis.scan('0', 'MATCH', pattern, 'COUNT', 10_000, 'TYPE', 'list')
  return keys
}
