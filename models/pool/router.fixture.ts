import { AppError, asAppError } from '#domain/error.ts'
import { allCapabilities } from '../wire/capabilities.ts'
import { openLocalSlots } from './slots/slots.ts'
import type { Endpoint } from './servers/server-endpoint.ts'
import { openOfferedList } from './servers/offered-models.ts'
import { openPooledServer } from './servers/pooled-server.ts'
import { openRouter } from './router.ts'

const raw = { choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] }
export const good = { raw, workarounds: [] }
export const refused = () => new AppError('AGENT_002', 'no answer: ECONNREFUSED', { phase: 'model' })
export const retryBudgetMs = 20_000

/** Every promise that can settle has settled. */
const settled = () => new Promise(setImmediate)

/** Time advances only by `pass`, one step at a time, so that the consequences of each step have happened. */
function manualClock() {
  let time = 0
  let due: { at: number; work: () => void }[] = []
  const after = (ms: number, work: () => void) => {
    const one = { at: time + ms, work }
    due.push(one)
    return () => void (due = due.filter((other) => other !== one))
  }
  const delay = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      after(ms, resolve)
      signal?.addEventListener('abort', () => reject(asAppError(signal.reason, 'AGENT_002', 'model')), { once: true })
    })
  const pass = async (ms: number) => {
    for (const end = time + ms; time < end; time += 100) {
      await settled()
      const now = due.filter(({ at }) => at <= time + 100)
      due = due.filter((one) => !now.includes(one))
      for (const { work } of now) work()
    }
    await settled()
  }
  return { clock: { now: () => time, after, delay }, pass }
}

/** `probe`: how servers answer a probe of the watch; as if nobody listened without it. `onProbe` is called for each. */
export type RouterPlay = { maxInFlight?: number; hedgeAfterMs?: number; probe?: 'good'; onProbe?: () => void }

/** The router over servers that behave well except for what is given; `pass` advances the time. */
export function routerOver(
  endpoints: readonly Partial<Endpoint>[],
  { maxInFlight = 8, hedgeAfterMs, probe, onProbe }: RouterPlay = {},
) {
  const { clock, pass } = manualClock()
  const random = () => 1
  const source = openLocalSlots(clock)
  const servers = endpoints.map((endpoint, at) => {
    const ask: Endpoint['ask'] = endpoint.ask ?? (async () => good)
    const given: Endpoint = {
      name: `http://${at}/v1`,
      capabilities: async () => allCapabilities,
      contextTokens: async () => undefined,
      countPrompt: async () => undefined,
      models: async () => ['m'],
      ...endpoint,
      // Probes, which ask for one token, are none of the requests that a test counts.
      async ask(request, ...more) {
        if (request.maxTokens !== 1) return ask(request, ...more)
        onProbe?.()
        if (probe === 'good') return good
        throw refused()
      },
    }
    const slots = source.at(given.name, maxInFlight)
    return openPooledServer({ endpoint: given, offered: openOfferedList(['m']), slots, maxInFlight, clock, random })
  })
  const answers = { pass: async () => {} }
  const router = openRouter({ servers, answers, retryBudgetMs, hedgeAfterMs, clock, random })
  return { router, servers, clock, pass }
}

export const never = new AbortController().signal

/** How it ended, without waiting for it. */
export function watched<T>(work: Promise<T>): { end?: unknown } {
  const state: { end?: unknown } = {}
  work.then(
    (value) => (state.end = value),
    (error: unknown) => (state.end = error),
  )
  return state
}
