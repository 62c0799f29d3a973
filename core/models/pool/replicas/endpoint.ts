import { AppError } from '#domain/error.ts'
import { systemClock, type Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { faultOfServerUrl } from '#platform/model-server-url.ts'
import { mayBeRefused, type Capabilities } from '../../wire/capabilities.ts'
import { isRefusal } from '../../wire/try-failure.ts'
import { readContextTokens, type ContextLook } from '../../servers/context-tokens.ts'
import { openLocalFindings, type FindingsKeeper } from '../../servers/findings-keeper.ts'
import { openKnownCapabilities } from '../../servers/known-capabilities.ts'
import { openRemembered } from '../../servers/remembered.ts'
import { openStrictOrPlain } from '../../servers/strict-or-plain.ts'
import { openServerLine, type ServerLine } from '../../wire/server-line.ts'
import { OpenAiClient } from '../../http/openai-client.ts'
import type { UndiciFetch } from '../../http/undici-fetch.ts'

/** One server, by its wire. */
export type Endpoint = {
  /** The URL, for people. */
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
  /** Who probes, and what was found; this process alone without it. */
  findings?: FindingsKeeper
  clock?: Clock
  random?(): number
  /** Of the pool. */
  closing?: AbortSignal
  log?: Pick<Log, 'warn'> | undefined
}

/** A request of a probe is short; a server that needs longer for a few tokens is asked again later. */
const maxProbeMs = 20_000
const maxContextLookMs = 5000
const contextKnownMs = { sure: 10 * 60_000, unsure: 5000 }

export function openEndpoint(options: EndpointOptions): Endpoint {
  const url = plainUrl(options.url)
  const { apiKey, requestTimeoutMs, fetch, log } = options
  const client = new OpenAiClient({ url, apiKey, requestTimeoutMs, fetch })
  const ask = openStrictOrPlain(openServerLine({ client, stream: options.stream ?? false }).ask)
  const within = (mostMs: number) => ({ client, timeoutMs: Math.min(requestTimeoutMs, mostMs) })
  const capabilities = openKnownCapabilities({
    ...within(maxProbeMs),
    endpoint: url,
    keeper: options.findings ?? openLocalFindings(),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    closing: options.closing ?? new AbortController().signal,
    log,
  })
  const contexts = openRemembered<ContextLook>({
    async load(model, old) {
      const look = await readContextTokens(model, within(maxContextLookMs))
      return look.isSure ? look : { tokens: old?.tokens, isSure: false }
    },
    keepMs: ({ isSure }) => (isSure ? contextKnownMs.sure : contextKnownMs.unsure),
  })
  return {
    name: url,
    capabilities: capabilities.of,
    contextTokens: async (model, signal) => (await contexts.get(model, signal)).tokens,
    async ask(request, given, signal) {
      try {
        return await ask(request, given, signal)
      } catch (error) {
        if (mayBeRefused(request) && isRefusal(error)) capabilities.doubt(request.model)
        throw error
      }
    },
    async models({ timeoutMs, signal }) {
      const page = await client.models.list({ timeout: timeoutMs, ...(signal === undefined ? {} : { signal }) })
      return page.data.map((model) => model.id)
    },
  }
}

/** Without the slash at its end. CONFIG_003 for one that is not a server's, or has what would not be sent. */
function plainUrl(given: string): string {
  const fault = faultOfServerUrl(given)
  if (fault !== undefined) throw new AppError('CONFIG_003', `a model server's URL ${fault}`)
  const url = new URL(given)
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
