import { Agent, errors, request, type Dispatcher } from 'undici'
import { AppError } from '#domain/error.ts'
import { BufferedResponse } from './buffered-response.ts'
import { StreamedResponse } from './streamed-response.ts'

export type UndiciFetch = {
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  /** Closes every socket at once; requests in flight fail. */
  close(): Promise<void>
}

/** The response headers that somebody reads; copying all of them costs more than it gives. */
const keptHeaders = ['content-type', 'content-length', 'retry-after', 'x-request-id']

/**
 * `fetch` for JSON over keep-alive sockets by undici's `request`, which costs a third of the platform's fetch. The
 * whole body is read before it resolves, at most `maxBytes` of it; a stream of events is a StreamedResponse. It rejects
 * with AGENT_002 when no answer came, AGENT_008 when the answer was cut short, AGENT_007 when it is larger than allowed,
 * or with the signal's reason; so does reading a stream.
 */
export function openUndiciFetch(options: { connections: number; maxBytes: number }): UndiciFetch {
  // Sockets rest undici's 4 s, less than the 5 s after which vLLM's server drops them: no request meets a dead one.
  // No undici timeouts: the caller's signal bounds the request.
  const dispatcher = new Agent({
    connections: options.connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: options.maxBytes,
  })
  return {
    async fetch(input, init = {}) {
      const answer = await send(input, init, dispatcher)
      const head = { status: answer.statusCode, headers: pickHeaders(answer.headers) }
      const isStream = answer.statusCode === 200 && /^text\/event-stream/i.test(head.headers['content-type'] ?? '')
      if (isStream) return new StreamedResponse(answer.body, { ...head, toError: (cause) => toBreak(cause, init) })
      return new BufferedResponse(await readWhole(answer, init), head)
    },
    close: () => dispatcher.destroy(),
  }
}

async function send(input: string | URL | Request, init: RequestInit, dispatcher: Agent) {
  const url = input instanceof Request ? input.url : input
  const { method = 'GET', body, signal } = init
  try {
    return await request(url, {
      dispatcher,
      method,
      headers: plainHeaders(init.headers),
      body: typeof body === 'string' ? body : null,
      signal: signal ?? null,
    })
  } catch (cause) {
    signal?.throwIfAborted()
    throw new AppError('AGENT_002', `no answer: ${nameOf(cause)}`, { cause, phase: 'model' })
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
