import type { Replica } from './replica.ts'
import type { ServerMetrics } from './server-metrics.ts'

/** One or two always wait for their prompt to be read; more of what runs is overload. */
const shareOfRunning = 0.25

/**
 * Told after every look how many requests wait inside a server; where many do from one look to the next, fewer are sent.
 * After that it takes two looks again, so that what has been sent before can go.
 */
export function openWaitingInside({ limit }: Pick<Replica, 'limit'>) {
  let since: number | undefined
  return ({ waiting = 0, running = 0 }: ServerMetrics, lookedAt: number): void => {
    const isMuch = waiting > running * shareOfRunning
    const stays = isMuch && since !== undefined
    if (stays) limit.cut(lookedAt)
    since = isMuch && !stays ? lookedAt : undefined
  }
}
