import type { Clock } from '#platform/clock.ts'
import type { CompleteDeps, Tried } from './complete-within.ts'
import type { WaitingLine } from './line/waiting-line.ts'

type Send = CompleteDeps['send']

export type HedgeOptions = { line: Pick<WaitingLine, 'enterNow'>; clock: Clock; afterMs: number }

/**
 * Sends a request a second time, to another server with a free place, when the first has not answered `afterMs` after it
 * was sent. The first good answer wins and the other request is aborted; what one server fails at is left to the other.
 */
export function sendHedged(send: Send, { line, clock, afterMs }: HedgeOptions): Send {
  return async (seat, request, signal) => {
    const lost = new AbortController()
    const own = AbortSignal.any([signal, lost.signal])
    const sent = Promise.withResolvers<void>()
    const first = send(seat, request, own, sent.resolve)
    const late = sent.promise.then(() => clock.delay(afterMs, own))
    try {
      const tried = await Promise.race([first, late])
      if (tried !== undefined) return tried
      const wish = { model: request.model, key: request.prefixKey ?? request.model, avoid: seat.replica }
      const other = line.enterNow(wish)
      if (other === undefined) return await first
      return { ...(await firstGood(first, send(other, request, own))), sent: 2 }
    } catch {
      return await first // aborted while waiting: it has ended, too
    } finally {
      lost.abort(new Error('another server has answered'))
    }
  }
}

/** The first reply; without one the last failure. With it what the other one failed of, if it has. */
async function firstGood(...both: readonly [Promise<Tried>, Promise<Tried>]): Promise<Tried> {
  const winner = await Promise.race(both)
  if ('reply' in winner) return winner
  const [one, other] = await Promise.all(both)
  return 'reply' in one ? withBeside(one, other) : withBeside(other, one)
}

function withBeside(tried: Tried, other: Tried): Tried {
  return 'failure' in other ? { ...tried, beside: other } : tried
}
