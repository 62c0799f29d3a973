import type { Log } from '#platform/log.ts'
import type { Capabilities } from '../wire/capabilities.ts'
import { readContextTokens } from '../servers/context-tokens.ts'
import { openKnownCapabilities } from '../servers/known-capabilities.ts'
import { openRemembered } from '../servers/remembered.ts'
import { openServerLine, type ServerLine } from '../wire/server-line.ts'
import { OpenAiClient } from '../http/openai-client.ts'
import type { UndiciFetch } from '../http/undici-fetch.ts'

/** One server, by its wire. */
export type Endpoint = {
  /** The URL without credentials and query, for people. */
  name: string
  /** What the server takes of a request for this model. */
  capabilities(model: string, signal: AbortSignal): Promise<Capabilities>
  ask: ServerLine['ask']
  /** How long a conversation for this model may be, where the server says so. */
  contextTokens(model: string, signal: AbortSignal): Promise<number | undefined>
  /** Ids of `GET /models`, unretried. */
  models(limits: { timeoutMs: number; signal?: AbortSignal | undefined }): Promise<string[]>
}

export type EndpointOptions = {
  url: string
  apiKey?: string | undefined
  requestTimeoutMs: number
  /** Whether answers are asked for piece by piece. */
  stream?: boolean | undefined
  fetch: UndiciFetch['fetch']
  log?: Pick<Log, 'warn'> | undefined
}

/** A request of a probe is short; a server that needs longer for it is asked again later. */
const maxProbeMs = 20_000
const contextKnownMs = 10 * 60_000

export function openEndpoint(options: EndpointOptions): Endpoint {
  const url = plainUrl(options.url)
  const { apiKey, requestTimeoutMs, fetch } = options
  const client = new OpenAiClient({ url, apiKey, requestTimeoutMs, fetch })
  const line = openServerLine({ client, stream: options.stream ?? false })
  const probing = { client, timeoutMs: Math.min(requestTimeoutMs, maxProbeMs) }
  const capabilities = openKnownCapabilities({ ...probing, endpoint: url, log: options.log })
  const contexts = openRemembered<number | undefined>({
    load: (model) => readContextTokens(model, probing),
    keepMs: () => contextKnownMs,
  })
  return {
    name: url,
    capabilities: capabilities.of,
    contextTokens: contexts.get,
    ask: line.ask,
    async models({ timeoutMs, signal }) {
      const page = await client.models.list({ timeout: timeoutMs, ...(signal === undefined ? {} : { signal }) })
      return page.data.map((model) => model.id)
    },
  }
}

/** Without credentials, query and the slash at its end. */
function plainUrl(given: string): string {
  const url = new URL(given)
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
