import { Agent, buildConnector, EnvHttpProxyAgent, errors, Pool, request, type Dispatcher } from 'undici'
import { AppError, CutReply } from '#domain/error.ts'
import type { HttpProxy } from '#platform/env.ts'
import { untilAborted } from '#platform/clock.ts'
import { StreamedResponse } from './streamed-response.ts'

type Sent = { method?: string; headers?: Record<string, string>; body?: string | null; signal?: AbortSignal }

export type UndiciFetch = {
  fetch(url: string | URL, sent?: Sent): Promise<Response>
  /** Closes every socket at once; requests in flight fail. */
  close(): Promise<void>
}

const readHeaders = ['content-type', 'content-length', 'retry-after', 'x-request-id']

/** A server that closes more reused sockets of one request counts as failed. */
const maxLostSockets = 3

/**
 * Fetches JSON by undici's `request`, at a third of the cost of the platform's fetch. At most `maxBytes` of a body are read
 * before it resolves; events that answer a POST are a StreamedResponse. Rejects with AGENT_002 without an answer, AGENT_008 when
 * it was cut short, AGENT_007 when it is too large, or the signal's reason; so does reading a stream. A request whose reused
 * socket broke before an answer is sent again at once.
 */
export function openUndiciFetch({ maxBytes, proxy }: { maxBytes: number; proxy?: HttpProxy | undefined }): UndiciFetch {
  // Idle sockets stay open for undici's 4 s, less than the 5 s after which vLLM's and llama.cpp's servers drop them.
  // No undici timeouts: the caller's signal bounds the request.
  const sockets = watchReusedSockets()
  const limits = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxResponseSize: maxBytes }
  const dispatcher =
    proxy === undefined
      ? new Agent({ ...limits, connect: sockets.watched() })
      : new EnvHttpProxyAgent(throughProxy(proxy, limits, sockets))
  return {
    async fetch(url, init = {}) {
      const answer = await send(url, init, { dispatcher, sockets })
      const head = { status: answer.statusCode, headers: pickHeaders(answer.headers) }
      if (isStream(init, head))
        return new StreamedResponse(answer.body, { ...head, toError: (cause) => toBreak(cause, init) })
      const content = await answer.body.text().catch((cause: unknown) => {
        throw toBreak(cause, init)
      })
      return new BufferedResponse(content, head)
    },
    close: () => dispatcher.destroy(),
  }
}

type Transport = { dispatcher: Dispatcher; sockets: ReusedSockets }

async function send(
  url: string | URL,
  { method = 'GET', headers = {}, body = null, signal }: Sent,
  transport: Transport,
) {
  const { dispatcher, sockets } = transport
  const sent = { dispatcher, method, headers, body, signal: signal ?? null }
  for (let lost = 1; ; lost += 1) {
    try {
      const answer = request(url, sent)
      // undici notices the abort of a request that it has not begun only after it has connected.
      return await (signal ? untilAborted(answer, signal) : answer)
    } catch (cause) {
      signal?.throwIfAborted()
      if (lost < maxLostSockets && sockets.broke(cause)) continue
      throw new AppError('AGENT_002', `no answer: ${nameOf(cause)}`, { cause, phase: 'model' })
    }
  }
}

type Head = { status: number; headers: Record<string, string> }

function pickHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of readHeaders) {
    const value = headers[name]
    if (typeof value === 'string') picked[name] = value
  }
  return picked
}

/** An answer to a GET is never read as a stream: one that does not end is ended with the request. */
function isStream({ method = 'GET' }: Sent, { status, headers }: Head): boolean {
  return method === 'POST' && status === 200 && /^text\/event-stream/i.test(headers['content-type'] ?? '')
}

/** The platform's own Response builds a stream around a string and reads it back: 0.05 ms of CPU per request. `body` is null. */
class BufferedResponse extends Response {
  override readonly text: () => Promise<string>
  override readonly json: () => Promise<unknown>

  constructor(content: string, init: Head) {
    super(null, init)
    this.text = async () => content
    this.json = async () => JSON.parse(content)
  }
}

function toBreak(cause: unknown, { signal }: Sent): unknown {
  if (signal?.aborted === true) return signal.reason
  if (cause instanceof AppError) return cause
  if (cause instanceof errors.ResponseExceededMaxSizeError) {
    return new AppError('AGENT_007', 'the answer is larger than allowed', { cause, phase: 'model' })
  }
  return new CutReply(`the answer was cut short: ${nameOf(cause)}`, cause)
}

function nameOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}

type ReusedSockets = ReturnType<typeof watchReusedSockets>

/** Tells a server that fails from one that closes a socket it has answered on (llama.cpp after 100 answers): that request was not read. */
function watchReusedSockets() {
  const ends = new WeakSet<object>()
  return {
    broke: (error: unknown) => typeof error === 'object' && error !== null && ends.has(error),
    watched:
      (connect = buildConnector({})): buildConnector.connector =>
      (options, callback) => {
        connect(options, (...result) => {
          const [, socket] = result
          socket?.once('error', (error) => void (socket.bytesRead > 0 && ends.add(error)))
          callback(...result)
        })
      },
  }
}

/** Undici itself drops the limits of a request to a proxy for http servers, and does not watch sockets. */
function throughProxy(
  { http = '', https = '', direct }: HttpProxy,
  limits: Pool.Options,
  sockets: ReusedSockets,
): EnvHttpProxyAgent.Options {
  return {
    ...limits,
    httpProxy: http,
    httpsProxy: https,
    noProxy: direct,
    factory: (origin, options) => new Pool(origin, { ...limits, connect: sockets.watched(connectorIn(options)) }),
  }
}

/** undici passes its connector through the proxy to the factory, but types it only as an object. */
function connectorIn(options: object): buildConnector.connector | undefined {
  const { connect } = { connect: undefined, ...options }
  return isConnector(connect) ? connect : undefined
}

function isConnector(value: unknown): value is buildConnector.connector {
  return typeof value === 'function'
}
