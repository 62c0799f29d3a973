import { allCapabilities, type Capabilities } from '../servers/capabilities.ts'
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
  /** Ids of `GET /models`, unretried. */
  models(limits: { timeoutMs: number; signal?: AbortSignal | undefined }): Promise<string[]>
}

export type EndpointOptions = {
  url: string
  apiKey?: string | undefined
  requestTimeoutMs: number
  fetch: UndiciFetch['fetch']
}

export function openEndpoint(options: EndpointOptions): Endpoint {
  const url = plainUrl(options.url)
  const { apiKey, requestTimeoutMs, fetch } = options
  const client = new OpenAiClient({ url, apiKey, requestTimeoutMs, fetch })
  const line = openServerLine({ client })
  return {
    name: url,
    capabilities: async () => allCapabilities,
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
