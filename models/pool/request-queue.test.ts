import { expect, it } from 'vitest'
import { allCapabilities } from '../wire/capabilities.ts'
import { openRequestQueue } from './request-queue.ts'
import { good, never, watched } from './router.fixture.ts'
import { openOfferedList } from './servers/offered-models.ts'
import { openPooledServer } from './servers/pooled-server.ts'
import { openLocalSlots } from './slots/slots.ts'

/** Time passes with each look at it, as it does on a busy machine. */
function tickingClock() {
  let time = 0
  const due: { at: number; work: () => void }[] = []
  return {
    now: () => (time += 0.25),
    after(ms: number, work: () => void) {
      const timer = { at: time + ms, work }
      due.push(timer)
      return () => void due.splice(due.indexOf(timer), 1)
    },
    delay: () => Promise.reject(new Error('the queue waits for nothing')),
    passAll() {
      for (let timer = due.shift(); timer !== undefined; timer = due.shift()) {
        time = Math.max(time, timer.at)
        timer.work()
      }
    },
  }
}

it.each(Array.from({ length: 40 }, (_, at) => 0.25 * (at + 1)))(
  'a request gets its slot after the pause of a server, also where that ends while it is queued (%d ms)',
  async (pauseMs) => {
    const clock = tickingClock()
    const slots = openLocalSlots(clock).at('http://0/v1', 1)
    const endpoint = {
      name: 'http://0/v1',
      capabilities: async () => allCapabilities,
      contextTokens: async () => undefined,
      countPrompt: async () => undefined,
      models: async () => ['m'],
      ask: async () => good,
    }
    const random = () => 1
    const server = openPooledServer({ endpoint, offered: openOfferedList(['m']), slots, maxInFlight: 1, clock, random })
    const queue = openRequestQueue({ servers: [server], clock, isAway: () => false })
    slots.pause(pauseMs)
    const request = { model: 'm', key: 'k', maxDownMs: 60_000, isRetry: true }
    const waiting = watched(queue.reserve(request, never))
    clock.passAll()
    await new Promise(setImmediate)
    expect(waiting.end).toMatchObject({ server })
  },
)
