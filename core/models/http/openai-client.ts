import OpenAI from 'openai'
import type { UndiciFetch } from './undici-fetch.ts'

export type OpenAiClientOptions = {
  url: string
  apiKey: string | undefined
  requestTimeoutMs: number
  fetch: UndiciFetch['fetch']
}

/**
 * The openai client with its request building replaced, which the package provides for: its own builds four Headers
 * objects and walks the body for every request (0.15 ms of CPU, more than sending it). Every request here has the same
 * headers and a body that is already JSON text. Errors, time limits and model listing stay the package's. It never
 * retries: the pool does, and may go elsewhere.
 */
export class OpenAiClient extends OpenAI {
  readonly #headers: Headers

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
    this.#headers = new Headers({
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'remora',
      ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
    })
  }

  override async buildRequest(options: Parameters<OpenAI['buildRequest']>[0]) {
    const { method, path, body, signal, timeout = this.timeout } = options
    const text = typeof body === 'string' ? { body } : {}
    const req = { method, headers: this.#headers, ...text, ...(signal ? { signal } : {}) }
    return { req, url: `${this.baseURL}${path}`, timeout }
  }
}
