import type { S3Client } from '@aws-sdk/client-s3'
import { Agent, errors } from 'undici'

type HttpHandler = S3Client['config']['requestHandler']
type HttpRequest = Parameters<HttpHandler['handle']>[0]

/**
 * Sockets rest 2 s: servers drop theirs after 5 s (Node's), and on a busy machine it takes seconds to hear of it. A
 * socket that breaks, or a limit that passes, is a try that failed.
 */
export const socketOptions = {
  pipelining: 1,
  connect: { timeout: 5_000 },
  headersTimeout: 60_000,
  bodyTimeout: 60_000,
  keepAliveTimeout: 2_000,
  keepAliveMaxTimeout: 2_000,
} as const

/**
 * The transport of the AWS client over undici's sockets, 5 to 10 % cheaper in CPU than the client's own over node:http.
 * An answer of any status resolves, with its body as a stream. No answer rejects with an AbortError when the signal was
 * aborted, with a TimeoutError (which the client tries again) when undici's limits passed or the socket broke, else with
 * the system's error.
 */
export function openUndiciHandler(options: { connections: number }): HttpHandler {
  const agent = new Agent({ ...socketOptions, connections: options.connections })
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request, { abortSignal }: { abortSignal?: unknown } = {}) {
      const signal = abortSignal instanceof AbortSignal ? abortSignal : null
      const { protocol, hostname, port, method, headers, body } = request
      const origin = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`
      const answer = await agent
        .request({ origin, path: pathOf(request), method, headers, body: body ?? null, signal })
        .catch((cause: unknown) => {
          throw signal?.aborted === true ? named('AbortError', cause) : retryable(cause)
        })
      return { response: { statusCode: answer.statusCode, headers: single(answer.headers), body: answer.body } }
    },
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
    destroy: () => void agent.destroy(),
  }
}

function pathOf({ path, query }: HttpRequest): string {
  const pairs: string[] = []
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) {
      pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(one)}`)
    }
  }
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}

function single(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const result: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return result
}

/** The client retries by Node's codes and this name; it does not know undici's codes. */
function retryable(cause: unknown): unknown {
  const passing =
    cause instanceof errors.SocketError ||
    cause instanceof errors.ConnectTimeoutError ||
    cause instanceof errors.HeadersTimeoutError
  return passing ? named('TimeoutError', cause) : cause
}

function named(name: 'AbortError' | 'TimeoutError', cause: unknown): Error {
  return Object.assign(new Error(cause instanceof Error ? cause.message : String(cause), { cause }), { name })
}
