import { randomUUID } from 'node:crypto'
import { delay } from '#platform/clock.ts'
import type { RunId } from '#domain/ids.ts'
import type { Random } from '#platform/seeded-random.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { sayWithRetries } from './chaos-clients.ts'
import type { ChaosStack } from './chaos-stack.ts'
import { leaseMs } from './fault.ts'
import { deleteJobs } from './queue-faults.ts'

/** What goes wrong with who decides, in histories with objectives. */
export type ConductorFault =
  | { kind: 'kill_conductor'; conductor: number; backAfterMs: number }
  /** SIGSTOP until after its claim has run out, then SIGCONT: it commits what another has decided meanwhile. */
  | { kind: 'freeze_conductor'; conductor: number; forMs: number }
  /** Each message that is found in an inbox comes once more. */
  | { kind: 'double_messages'; forMs: number }
  /** Nobody is told that there is something to hear. */
  | { kind: 'lose_wakes'; forMs: number }
  /** Somebody adds to the objective, each time with the same key; it may come after the end. */
  | { kind: 'say'; run: number; times: number }

export const conductorFaultNames = [
  'kill_conductor',
  'freeze_conductor',
  'double_messages',
  'lose_wakes',
  'say',
] as const satisfies readonly ConductorFault['kind'][]

export const conductorCount = 2
const pollMs = 15

export function drawConductorFault(random: Random, runs: number): ConductorFault {
  const kind = random.pick<ConductorFault['kind']>(['kill_conductor', ...conductorFaultNames])
  const conductor = random.int(0, conductorCount - 1)
  switch (kind) {
    case 'kill_conductor':
      return { kind, conductor, backAfterMs: random.int(0, 1_200) }
    case 'freeze_conductor':
      return { kind, conductor, forMs: leaseMs + random.int(200, 1_200) }
    case 'double_messages':
    case 'lose_wakes':
      return { kind, forMs: random.int(500, 4_000) }
    case 'say':
      return { kind, run: random.int(0, runs - 1), times: random.int(1, 3) }
  }
}

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
  const [, keys] = await redis.scan('0', 'MATCH', pattern, 'COUNT', 10_000)
  return keys
}
