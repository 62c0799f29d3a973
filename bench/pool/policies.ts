import type { ModelRequest } from '#domain/turn.ts'
import { unreachable } from '#domain/error.ts'
import { openOfferedList } from '#models/pool/servers/offered-models.ts'
import { openLocalSlots } from '#models/pool/slots/slots.ts'
import { openPooledServer } from '#models/pool/servers/pooled-server.ts'
import { openRouter } from '#models/pool/router.ts'
import { allCapabilities } from '#models/wire/capabilities.ts'
import type { RequestShape, SimulatedServer } from './simulated-server.ts'
import type { VirtualClock } from './virtual-clock.ts'

export const policyNames = ['round robin', 'least loaded', 'ours', 'ours, ten workers'] as const
export type PolicyName = (typeof policyNames)[number]

export type Policy = {
  /** Serves one request; rejects when it is lost. */
  serve(prefix: string): Promise<unknown>
}

export type PolicyDeps = {
  servers: readonly SimulatedServer[]
  shape: RequestShape
  maxInFlight: number
  clock: VirtualClock
  random(): number
}

export function openPolicy(name: PolicyName, deps: PolicyDeps): Policy {
  switch (name) {
    case 'ours':
      return openOurs(deps)
    case 'ours, ten workers':
      return inTurns(Array.from({ length: 10 }, () => openOurs(deps)))
    case 'round robin':
    case 'least loaded':
      return openBaseline(name, deps)
    default:
      return unreachable(name)
  }
}

/** Each is a separate process, which knows nothing about the others. */
function inTurns(policies: readonly Policy[]): Policy {
  let turn = 0
  return { serve: async (prefix) => policies[turn++ % policies.length]?.serve(prefix) }
}

function openBaseline(name: 'round robin' | 'least loaded', deps: PolicyDeps): Policy {
  const { servers, shape } = deps
  let turn = 0
  const choose = () => {
    turn += 1
    const inTurn = [...servers.slice(turn % servers.length), ...servers.slice(0, turn % servers.length)]
    const byLoad = name === 'round robin' ? inTurn : inTurn.toSorted((one, other) => one.inFlight() - other.inFlight())
    return byLoad[0]
  }
  return { serve: async (prefix) => choose()?.serve(prefix, shape) }
}

const model = 'm'
const raw = { choices: [{ message: { content: 'done' }, finish_reason: 'stop' }] }

/** The pool's own router over these servers: everything but the network, the clock and other processes. */
function openOurs({ servers, shape, maxInFlight, clock, random }: PolicyDeps): Policy {
  const slots = openLocalSlots(clock)
  const pooled = servers.map((server) => {
    const ask = async ({ prefixKey = '' }: ModelRequest) => {
      await server.serve(prefixKey, shape)
      return { raw, workarounds: [] }
    }
    const endpoint = {
      name: server.name,
      ask,
      capabilities: async () => allCapabilities,
      contextTokens: async () => undefined,
      countPrompt: async () => undefined,
      models: async () => [model],
    }
    const offered = openOfferedList([model])
    return openPooledServer({
      endpoint,
      offered,
      slots: slots.at(server.name, maxInFlight),
      maxInFlight,
      clock,
      random,
    })
  })
  const answers = { pass: async () => {} }
  const router = openRouter({ servers: pooled, answers, retryBudgetMs: 20_000, clock, random })
  const never = new AbortController().signal
  const serve = (prefixKey: string) => {
    const request = {
      model,
      messages: [],
      tools: [],
      toolChoice: 'auto',
      temperature: 0,
      maxTokens: 1,
      prefixKey,
    } as const
    return router.complete(request, never)
  }
  return { serve }
}
