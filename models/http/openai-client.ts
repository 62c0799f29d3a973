import OpenAI, { APIError } from 'openai'
import { isDeeperThan, isRecord } from '#domain/json.ts'
import { after } from '#platform/clock.ts'
import { withoutSecrets } from '#platform/hide-secrets.ts'
import { StreamedResponse } from './streamed-response.ts'
import type { UndiciFetch } from './undici-fetch.ts'

export type OpenAiClientOptions = {
  url: string
  apiKey: string | undefined
  requestTimeoutMs: number
  fetch: UndiciFetch['fetch']
}

/** Replaces the package's request building and waiting, which cost more than sending the request. It never retries: the pool does. */
export class OpenAiClient extends OpenAI {
  readonly #headers: Record<string, string>
  readonly #shownHeaders: Headers
  readonly #transport: UndiciFetch['fetch']
  readonly #key: string | undefined
  constructor(options: OpenAiClientOptions) {
    super({
      baseURL: options.url,
      apiKey: options.apiKey ?? 'none',
      adminAPIKey: null,
      organization: null,
      project: null,
      maxRetries: 0,
      timeout: options.requestTimeoutMs,
      logLevel: 'off',
    })
    this.#headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'remora',
      ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
    }
    this.#shownHeaders = new Headers(this.#headers)
    this.#transport = options.fetch
    this.#key = options.apiKey
  }

  shown(part: unknown): unknown {
    return withoutKey(part, this.#key)
  }

  /** Reads a body such as `{"error": {"message", "code"}}`; some servers leave out the outer object. */
  override makeStatusError(...given: Parameters<OpenAI['makeStatusError']>) {
    const [status, body, message, headers] = given
    const content = isRecord(body) ? (body['error'] ?? body) : body
    const error = isTooDeep(content) ? undefined : this.shown(content)
    const text = message === undefined ? undefined : hideKey(message, this.#key)
    return APIError.generate(status, { error }, text, headers)
  }

  override async buildRequest(options: Parameters<OpenAI['buildRequest']>[0]) {
    const { method, path, body, signal, timeout = this.timeout } = options
    const text = typeof body === 'string' ? { body } : {}
    const req = { method, headers: this.#shownHeaders, ...text, ...(signal ? { signal } : {}) }
    return { req, url: `${this.baseURL}${path}`, timeout }
  }

  /** The time limit ends with a stream's head, the caller's signal with its last byte. */
  override async fetchWithTimeout(...given: Parameters<OpenAI['fetchWithTimeout']>): Promise<Response> {
    const [url, { signal, method = 'get', body } = {}, ms, controller] = given
    const abort = () => controller.abort(signal?.reason)
    const unlink = () => signal?.removeEventListener('abort', abort)
    signal?.addEventListener('abort', abort, { once: true })
    const stopTimer = after(ms, () => controller.abort())
    const request = { method: method.toUpperCase(), headers: this.#headers, signal: controller.signal }
    let response: Response | undefined
    try {
      response = await this.#transport(
        url instanceof Request ? url.url : url,
        typeof body === 'string' ? { ...request, body } : request,
      )
      return response
    } finally {
      stopTimer()
      if (response instanceof StreamedResponse) response.whenClosed(unlink)
      else unlink()
    }
  }
}

/** Matches what follows "Bearer", which may be the key of a server behind this one. A word of letters alone is no key. */
const bearer = /\b(bearer\s+)(?=[^\s"'<>]*[^\sa-z"'<>.,:;!?)])[^\s"'<>]+/gi

/** Servers echo what they were sent, and errors go into records. The JSON must not be `isTooDeep`. */
function withoutKey(value: unknown, key: string | undefined): unknown {
  if (typeof value === 'string') return hideKey(value, key)
  if (Array.isArray(value)) return value.map((item) => withoutKey(item, key))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [hideKey(name, key), withoutKey(item, key)]))
}

function hideKey(text: string, key: string | undefined): string {
  return withoutSecrets(text, key === undefined ? [] : [key]).replace(bearer, '$1[secret]')
}

/** Servers' own JSON is six deep and arguments a few more; writing a reply as JSON again overflows the stack at some thousands. */
export const maxReplyDepth = 100

export function isTooDeep(reply: unknown): boolean {
  return isDeeperThan(reply, maxReplyDepth)
}
