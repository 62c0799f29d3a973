import { once } from 'node:events'
import { promisify } from 'node:util'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import { boundPort } from '#platform/http-health.ts'
import { parseJson } from '#domain/json.ts'
import { FaultPlan, openFaultDraw } from './faults.ts'
import { answerError, answerJson, readBody } from './json-http.ts'
import { answerChat, metricsText, openState, type RehearsalState } from './answer-chat.ts'
import { Refusals } from './refusals.ts'

export type RehearsalOptions = {
  host: string
  port: number
  latencyMs?: number
  faults?: FaultPlan
  refusals?: Refusals
}

export type Rehearsal = {
  /** Base URL for a model pool, including `/v1`. */
  url: string
  origin: string
  /** Requests of any kind in flight, open connections (also idle ones), and turns asked for since the start, without probes. */
  load(): Promise<{ unanswered: number; sockets: number; asked: number }>
  /** Accepts no more requests, and closes the connections of those in flight after two seconds: a hanging one never ends. */
  close(): Promise<void>
}

const graceMs = 2000
const maxBodyBytes = 64 * 1024

type Handler = (request: IncomingMessage, response: ServerResponse, state: RehearsalState) => unknown

const Latency = z.strictObject({ ms: z.number().min(0) })

const routes: Readonly<Record<string, Handler>> = {
  'POST /v1/chat/completions': answerChat,
  'GET /v1/models': (_request, response) => answerJson(response, 200, models),
  'GET /health': (_request, response) => answerJson(response, 200, {}),
  'GET /healthz': (_request, response) => answerJson(response, 200, { status: 'ok' }),
  'GET /readyz': (_request, response) => answerJson(response, 200, { status: 'ready', parts: {} }),
  'GET /metrics': (_request, response, state) => {
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(metricsText(state.counts))
  },
  /** `{"shares": {"429": 0.1}, "seed": 1, "times"?: 3}` replaces the plan and returns it with its seed. */
  'POST /faults': setting(FaultPlan, (plan, state) => void (state.drawFault = openFaultDraw(plan))),
  /** `{"ms": 50}` delays every reply from now on. */
  'POST /latency': setting(Latency, ({ ms }, state) => void (state.latencyMs = ms)),
  /** `{"named": true, "required": true}` sets the features that are refused from now on; `{}` is none. */
  'POST /refusals': setting(Refusals, (refusals, state) => {
    state.refusals = refusals
    return { refused: [...refusals] }
  }),
}

const models = { object: 'list', data: [{ id: 'rehearsal', object: 'model', created: 0, owned_by: 'remora' }] }

/** Starts an OpenAI-compatible server that calls the bundles' tools by fixed rules, without a model. Port 0 takes a free one. */
export async function startRehearsal(options: RehearsalOptions): Promise<Rehearsal> {
  const state = openState(options.latencyMs ?? 0, options.faults ?? FaultPlan.parse({}), options.refusals ?? new Set())
  let unanswered = 0
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    unanswered += 1
    response.once('close', () => (unanswered -= 1))
    void handle(request, response, state)
  })
  server.listen(options.port, options.host, 4096)
  await once(server, 'listening').catch((cause: unknown) => {
    const address = `${options.host}:${options.port}`
    const remedy = 'REMORA_REHEARSAL_HOST and REMORA_REHEARSAL_PORT choose another one'
    throw new AppError('CONFIG_006', `${address} cannot be listened on (${String(cause)}): ${remedy}`, { cause })
  })
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  const origin = `http://${host}:${boundPort(server)}`
  return {
    url: `${origin}/v1`,
    origin,
    async load() {
      const sockets = await promisify(server.getConnections.bind(server))()
      return { unanswered, sockets, asked: state.counts.asked }
    },
    close: () => closeWithin(server),
  }
}

async function handle(request: IncomingMessage, response: ServerResponse, state: RehearsalState): Promise<void> {
  const path = request.url?.split('?')[0] ?? ''
  const handler = routes[`${request.method} ${path}`]
  try {
    if (handler === undefined) return answerError(response, 404, `no such path: ${path}`)
    await handler(request, response, state)
  } catch (error) {
    // A client that disconnected needs no answer; anything else is a fault of ours.
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

function setting<Schema extends z.ZodType<object>>(
  schema: Schema,
  apply: (given: z.infer<Schema>, state: RehearsalState) => object | void,
): Handler {
  return async (request, response, state) => {
    const body = (await readBody(request, maxBodyBytes)) ?? ''
    const given = schema.safeParse(parseJson(body))
    if (!given.success) return answerError(response, 400, z.prettifyError(given.error))
    return answerJson(response, 200, apply(given.data, state) ?? given.data)
  }
}
