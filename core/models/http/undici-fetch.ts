import { Agent, EnvHttpProxyAgent, errors, request, type Dispatcher } from 'undici'
import { AppError } from '#domain/error.ts'
import type { HttpProxy } from '#platform/proxy-env.ts'
import { untilAborted } from '#platform/until-aborted.ts'
import { BufferedResponse } from './buffered-response.ts'
import { StreamedResponse } from './streamed-response.ts'
import { throughProxy } from './through-proxy.ts'
import { watchUsedSockets, type UsedSockets } from './used-sockets.ts'

export type UndiciFetch = {
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  /** Closes every socket at once; requests in flight fail. */
  close(): Promise<void>
}

export type UndiciFetchOptions = { maxBytes: number; proxy?: HttpProxy | undefined }

/** The response headers that somebody reads; copying all of them costs more than it gives. */
const keptHeaders = ['content-type', 'content-length', 'retry-after', 'x-request-id']

/** How many sockets that were used before one request may lose; then it is the server that fails. */
const maxLostSockets = 3

/**
 * `fetch` for JSON over keep-alive sockets by undici's `request`, which costs a third of the platform's fetch. The
 * whole body is read before it resolves, at most `maxBytes` of it; a stream of events that answers a POST is a
 * StreamedResponse. It rejects with AGENT_002 when no answer came, AGENT_008 when the answer was cut short, AGENT_007 when
 * it is larger than allowed, or at once with the signal's reason; so does reading a stream. Every request has a socket of
 * its own: how many there are at once is the callers' to say. One whose socket had answered others, and broke before it
 * answered this one, is sent again at once.
 */
export function openUndiciFetch({ maxBytes, proxy }: UndiciFetchOptions): UndiciFetch {
  // Sockets rest undici's 4 s, less than the 5 s after which vLLM's and llama.cpp's servers drop them.
  // No undici timeouts: the caller's signal bounds the request.
  const sockets = watchUsedSockets()
  const limits = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxResponseSize: maxBytes }
  const dispatcher =
    proxy === undefined
      ? new Agent({ ...limits, connect: sockets.watched() })
      : new EnvHttpProxyAgent(throughProxy(proxy, { limits, sockets }))
  return {
    async fetch(input, init = {}) {
      const answer = await send(input, init, { dispatcher, sockets })
      const head = { status: answer.statusCode, headers: pickHeaders(answer.headers) }
      if (isStream(init, head))
        return new StreamedResponse(answer.body, { ...head, toError: (cause) => toBreak(cause, init) })
      return new BufferedResponse(await readWhole(answer, init), head)
    },
    close: () => dispatcher.destroy(),
  }
}

/** Nobody reads an answer to a GET piece by piece: what does not end is ended with the request. */
function isStream(
  { method = 'GET' }: RequestInit,
  { status, headers }: { status: number; headers: Record<string, string> },
) {
  return method === 'POST' && status === 200 && /^text\/event-stream/i.test(headers['content-type'] ?? '')
}

type Transport = { dispatcher: Dispatcher; sockets: UsedSockets }

async function send(input: string | URL | Request, init: RequestInit, { dispatcher, sockets }: Transport) {
  const url = input instanceof Request ? input.url : input
  const { method = 'GET', body, signal } = init
  const headers = plainHeaders(init.headers)
  const sent = { dispatcher, method, headers, body: typeof body === 'string' ? body : null, signal: signal ?? null }
  for (let lost = 1; ; lost += 1) {
    try {
      const answer = request(url, sent)
      // undici notes the abort of a request that it has not begun, and waits for its connection.
      return await (signal ? untilAborted(answer, signal) : answer)
    } catch (cause) {
      signal?.throwIfAborted()
      if (lost < maxLostSockets && sockets.broke(cause)) continue
      throw new AppError('AGENT_002', `no answer: ${nameOf(cause)}`, { cause, phase: 'model' })
    }
  }
}

/** Those that are plain already, as ours are, are not copied. */
function plainHeaders(given: RequestInit['headers'] = {}) {
  return given instanceof Headers || Array.isArray(given) ? Object.fromEntries(new Headers(given)) : given
}

async function readWhole(answer: Dispatcher.ResponseData, init: RequestInit): Promise<string> {
  try {
    return await answer.body.text()
  } catch (cause) {
    throw toBreak(cause, init)
  }
}

/** Why an answer that had begun did not come to its end. */
function toBreak(cause: unknown, { signal }: RequestInit): unknown {
  if (signal?.aborted === true) return signal.reason
  if (cause instanceof AppError) return cause
  if (cause instanceof errors.ResponseExceededMaxSizeError) {
    return new AppError('AGENT_007', 'the answer is larger than allowed', { cause, phase: 'model' })
  }
  return new AppError('AGENT_008', `the answer was cut short: ${nameOf(cause)}`, { cause, phase: 'model' })
}

/** The error's code where it has one (ECONNREFUSED says more than its message), else its message. */
function nameOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}

function pickHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of keptHeaders) {
    const value = headers[name]
    if (typeof value === 'string') picked[name] = value
  }
  return picked
}
