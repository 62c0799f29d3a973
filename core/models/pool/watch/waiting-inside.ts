import type { Replica } from '../replicas/replica.ts'
import type { ServerMetrics } from './server-metrics.ts'

/**
 * So many times what runs may wait. Some always wait for their prompt to be read; with less than this the pool leaves
 * servers that are merely busy, and what it sends elsewhere finds nothing in the caches there: a quarter of the requests
 * per second less at 0.25 to 2 in bench/pool-bench.ts, and loads of 1.3 times the mean.
 */
const timesRunning = 4
/** At least so much is kept at once: it is a sign that comes late, no refusal. */
const leastKept = 0.75

/**
 * Told after every look how many requests wait inside a server; where many do from one look to the next, fewer are sent.
 * After that it takes two looks again, so that what has been sent before can go. Every process sees the same and keeps the
 * same share, which is what all of them together are to keep, however many they are.
 */
export function openWaitingInside({ limit }: Pick<Replica, 'limit'>) {
  let since: number | undefined
  return ({ waiting = 0, running = 0 }: ServerMetrics, lookedAt: number): void => {
    const room = running * (1 + timesRunning)
    const isMuch = running + waiting > room
    const stays = isMuch && since !== undefined
    if (stays) limit.cut(lookedAt, { share: Math.max(leastKept, room / (running + waiting)) })
    since = isMuch && !stays ? lookedAt : undefined
  }
}
