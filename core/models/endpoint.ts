import { AppError } from '#domain/error.ts'
import type { Candidate } from './choose-endpoint.ts'
import { openInFlightGate } from '#platform/in-flight-gate.ts'
import { OpenAiClient } from './openai-client.ts'
import type { UndiciFetch } from './undici-fetch.ts'

export type Endpoint = Candidate & {
  /** The URL without credentials and query, for people. */
  name: string
  enter(signal: AbortSignal): Promise<() => void>
  /** One `POST /chat/completions`, unretried; resolves to the parsed JSON of the answer. */
  ask(body: string, signal: AbortSignal): Promise<unknown>
  /** Ids of `GET /models`, unretried. */
  models(limits: { timeoutMs: number; signal?: AbortSignal | undefined }): Promise<string[]>
}

export type EndpointOptions = {
  url: string
  apiKey?: string | undefined
  requestTimeoutMs: number
  maxInFlight: number
  fetch: UndiciFetch['fetch']
}

export function openEndpoint(options: EndpointOptions): Endpoint {
  const url = plainUrl(options.url)
  const gate = openInFlightGate(options.maxInFlight)
  const { apiKey, requestTimeoutMs, fetch } = options
  const client = new OpenAiClient({ url, apiKey, requestTimeoutMs, fetch })
  return {
    name: url,
    enter: gate.enter,
    free: gate.free,
    async ask(body, signal) {
      // The raw response: the client's own body parsing adds a second timer and a race for what is already in memory.
      const response = await client.post('/chat/completions', { body, signal }).asResponse()
      return parseJson(await response.text())
    },
    async models({ timeoutMs, signal }) {
      const page = await client.models.list({ timeout: timeoutMs, ...(signal === undefined ? {} : { signal }) })
      return page.data.map((model) => model.id)
    },
  }
}

function plainUrl(given: string): string {
  const url = new URL(given)
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('AGENT_008', 'the reply is not JSON', { cause, phase: 'model' })
  }
}
