import { once } from 'node:events'
import { promisify } from 'node:util'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { after } from '#platform/clock.ts'
import { boundPort } from '#platform/http-health.ts'
import { FaultPlan } from './faults.ts'
import { answerError, answerJson } from './http/answer.ts'
import { answerChat, openState, type RehearsalState } from './http/chat-completions.ts'
import { metricsText } from './http/metrics-text.ts'
import type { Refusals } from './refusals.ts'
import { setFaults, setLatency, setRefusals } from './http/settings.ts'

export type RehearsalOptions = {
  host: string
  port: number
  latencyMs?: number
  faults?: FaultPlan
  refusals?: Refusals
}

export type Rehearsal = {
  /** Base URL for a model pool, with its `/v1`. */
  url: string
  /** Where `/health`, `/metrics`, `/faults`, `/latency` and `/refusals` are. */
  origin: string
  load(): Promise<RehearsalLoad>
  /** Stops accepting, lets requests in flight end for two seconds, then cuts them (a hanging one never ends). */
  close(): Promise<void>
}

export type RehearsalLoad = {
  /** Requests of any kind that are not answered yet. */
  unanswered: number
  /** Connections that are open, idle ones too. */
  sockets: number
  /** Turns that were asked for since it was started, probes left out. */
  asked: number
}

const graceMs = 2000

type Handler = (request: IncomingMessage, response: ServerResponse, state: RehearsalState) => unknown

const routes: Readonly<Record<string, Handler>> = {
  'POST /v1/chat/completions': answerChat,
  'GET /v1/models': (_request, response) => answerJson(response, 200, models),
  'GET /health': (_request, response) => answerJson(response, 200, {}),
  'GET /healthz': (_request, response) => answerJson(response, 200, { status: 'ok' }),
  'GET /readyz': (_request, response) => answerJson(response, 200, { status: 'ready' }),
  'GET /metrics': (_request, response, state) => {
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(metricsText(state.counts))
  },
  'POST /faults': setFaults,
  'POST /latency': setLatency,
  'POST /refusals': setRefusals,
}

const models = { object: 'list', data: [{ id: 'rehearsal', object: 'model', created: 0, owned_by: 'remora' }] }

/**
 * Starts the rehearsal model: an OpenAI-compatible server that plays the bundles' tools by plain rules, without a
 * model behind it (contract.md §9). Port 0 takes a free one.
 */
export async function startRehearsal(options: RehearsalOptions): Promise<Rehearsal> {
  const state = openState(options.latencyMs ?? 0, options.faults ?? FaultPlan.parse({}), options.refusals ?? new Set())
  let unanswered = 0
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    unanswered += 1
    response.once('close', () => (unanswered -= 1))
    void handle(request, response, state)
  })
  server.listen(options.port, options.host, 4096)
  await once(server, 'listening')
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  const origin = `http://${host}:${boundPort(server)}`
  return {
    url: `${origin}/v1`,
    origin,
    load: async () => ({ unanswered, sockets: await socketsOf(server), asked: state.counts.asked }),
    close: () => closeWithin(server),
  }
}

async function socketsOf(server: Server): Promise<number> {
  return promisify(server.getConnections.bind(server))()
}

async function handle(request: IncomingMessage, response: ServerResponse, state: RehearsalState): Promise<void> {
  const path = request.url?.split('?')[0] ?? ''
  const handler = routes[`${request.method} ${path}`]
  try {
    if (handler === undefined) return answerError(response, 404, `no such path: ${path}`)
    await handler(request, response, state)
  } catch (error) {
    // A client that went away while it was read needs no answer; anything else is ours.
    if (response.headersSent || request.destroyed) response.destroy()
    else answerError(response, 500, error instanceof Error ? error.message : String(error))
  }
}

async function closeWithin(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const calm = after(graceMs, () => server.closeAllConnections())
  await closed
  calm()
}
