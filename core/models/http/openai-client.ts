import OpenAI, { APIError } from 'openai'
import { isRecord } from '#domain/json.ts'
import { after } from '#platform/clock.ts'
import { isTooDeep } from './reply-depth.ts'
import { StreamedResponse } from './streamed-response.ts'
import type { UndiciFetch } from './undici-fetch.ts'
import { hideKey, withoutKey } from './without-key.ts'

export type OpenAiClientOptions = {
  url: string
  apiKey: string | undefined
  requestTimeoutMs: number
  fetch: UndiciFetch['fetch']
}

/**
 * The openai client with its request building and its waiting replaced, which the package provides for: its own builds four
 * Headers objects, walks the body and composes abort signals for every request, which costs more than sending it. Every
 * request here has the same headers and a body that is already JSON text. Errors and model listing stay the package's. It
 * never retries: the pool does, and may go elsewhere.
 */
export class OpenAiClient extends OpenAI {
  readonly #headers: Record<string, string>
  /** What the package wants to see of a request; sent are the plain ones. */
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
      fetch: options.fetch,
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

  /** What the server said, for an error: without the key it was sent. */
  shown(said: unknown): unknown {
    return withoutKey(said, this.#key)
  }

  /** Of a body such as `{"error": {"message", "code"}}`, in which some leave out the outer object. */
  override makeStatusError(...given: Parameters<OpenAI['makeStatusError']>) {
    const [status, body, message, headers] = given
    const said = isRecord(body) ? (body['error'] ?? body) : body
    const error = isTooDeep(said) ? undefined : this.shown(said)
    return APIError.generate(
      status,
      { error },
      message === undefined ? undefined : hideKey(message, this.#key),
      headers,
    )
  }

  override async buildRequest(options: Parameters<OpenAI['buildRequest']>[0]) {
    const { method, path, body, signal, timeout = this.timeout } = options
    const text = typeof body === 'string' ? { body } : {}
    const req = { method, headers: this.#shownHeaders, ...text, ...(signal ? { signal } : {}) }
    return { req, url: `${this.baseURL}${path}`, timeout }
  }

  /** The limit ends with the head of a stream, the caller's signal with its last byte. */
  override async fetchWithTimeout(...given: Parameters<OpenAI['fetchWithTimeout']>): Promise<Response> {
    const [url, { signal, method = 'get', body } = {}, ms, controller] = given
    const abort = () => controller.abort(signal?.reason)
    const unlink = () => signal?.removeEventListener('abort', abort)
    signal?.addEventListener('abort', abort, { once: true })
    const inTime = after(ms, () => controller.abort())
    const request = { method: method.toUpperCase(), headers: this.#headers, signal: controller.signal }
    let response: Response | undefined
    try {
      response = await this.#transport(url, body === undefined ? request : { ...request, body })
      return response
    } finally {
      inTime()
      if (response instanceof StreamedResponse) response.whenClosed(unlink)
      else unlink()
    }
  }
}
