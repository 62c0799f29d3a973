import { S3Client } from '@aws-sdk/client-s3'
import { Agent, errors } from 'undici'

export type S3ClientOptions = {
  /** AWS itself is meant when it is undefined. */
  endpoint: string | undefined
  region: string
  /** Are found as the AWS SDK finds them when they are undefined. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined
  maxSockets?: number
  maxAttempts?: number
  /** The store may be silent for so long for a request without a body; then it is not asked again. */
  silentMs?: number | undefined
}

/** Steps that we do not need: a user agent, an unused log, Lambda's trace header, redirects that are off. */
const idleSteps = [
  'getUserAgentMiddleware',
  'loggerMiddleware',
  'recursionDetectionMiddleware',
  'regionRedirectMiddleware',
  'regionRedirectEndpointMiddleware',
]

/** Takes a quarter to a third less CPU than the plain client. For one bucket and region. */
export function openS3Client(options: S3ClientOptions): S3Client {
  const { endpoint, region, credentials, maxSockets = 64, maxAttempts = 4, silentMs } = options
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    // What we store is named by its SHA-256, or checked by it; a second checksum would only cost CPU.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts,
    // The stack of middleware is put together once per command, not once per request.
    cacheMiddleware: true,
    // undici refuses the header that asks the server before a large body is sent.
    expectContinueHeader: false,
    requestHandler: openUndiciHandler({ connections: maxSockets, silentMs }),
  })
  for (const step of idleSteps) client.middlewareStack.remove(step)
  shareSigner(client)
  if (endpoint !== undefined) addressBucketPlainly(client)
  return client
}

/** `/bucket?…` instead of `/bucket/?…`: the embedded server signs the former, and every other takes both. */
function addressBucketPlainly(client: S3Client): void {
  client.middlewareStack.add(
    (next) => (args) => {
      const { request } = args
      if (isAddressed(request) && request.path.length > 1 && request.path.endsWith('/'))
        request.path = request.path.slice(0, -1)
      return next(args)
    },
    { step: 'build', name: 'addressBucketPlainly' },
  )
}

function isAddressed(request: unknown): request is { path: string } {
  return typeof request === 'object' && request !== null && 'path' in request && typeof request.path === 'string'
}

/** The client makes a signer of its whole configuration for each request. One asks for the credentials each time. */
function shareSigner({ config }: S3Client): void {
  const make = config.signer
  let signer: ReturnType<typeof make> | undefined
  config.signer = (scheme) => (signer ??= make(scheme))
}

type HttpHandler = S3Client['config']['requestHandler']
type HttpRequest = Parameters<HttpHandler['handle']>[0]

/** Idle sockets are closed after 2 s: servers close theirs after 5 s (Node's), and a busy machine notices that seconds later. */
export const socketOptions = {
  pipelining: 1,
  connect: { timeout: 5_000 },
  keepAliveTimeout: 2_000,
  keepAliveMaxTimeout: 2_000,
} as const

const patientMs = 60_000
/** A request may take longer than `patientMs` for its body: at this rate it arrives in the time that its size adds. */
const bodyBytesPerMs = 512

/** `headersTimeout` also counts the time in which the body is sent. `isFinal`: the store is not asked again. */
export function silenceLimits(body: unknown, silentMs: number | undefined) {
  const bytes = bytesOf(body)
  const hasBody = bytes !== 0
  const most = hasBody || silentMs === undefined ? patientMs : silentMs
  const limits = { headersTimeout: most + Math.ceil((bytes ?? 0) / bodyBytesPerMs), bodyTimeout: most }
  return { limits, isFinal: (error: unknown) => !hasBody && silentMs !== undefined && wasSilent(error) }
}

function bytesOf(body: unknown): number | undefined {
  if (ArrayBuffer.isView(body)) return body.byteLength
  if (typeof body === 'string') return Buffer.byteLength(body)
  return body === undefined || body === null ? 0 : undefined
}

function wasSilent(error: unknown): boolean {
  const { ConnectTimeoutError, HeadersTimeoutError, BodyTimeoutError } = errors
  return [ConnectTimeoutError, HeadersTimeoutError, BodyTimeoutError].some((kind) => error instanceof kind)
}

/**
 * Is the AWS client's transport over undici, 5 to 10 % cheaper in CPU than its own. An answer of any status resolves. No answer
 * rejects with an AbortError when the signal was aborted, a TimeoutError (tried again) after undici's limits or a broken socket,
 * or the system's error.
 */
function openUndiciHandler({
  connections,
  silentMs,
}: {
  connections: number
  silentMs: number | undefined
}): HttpHandler {
  const agent = new Agent({ ...socketOptions, connections })
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request, { abortSignal }: { abortSignal?: unknown } = {}) {
      const signal = abortSignal instanceof AbortSignal ? abortSignal : null
      const { protocol, hostname, port, method, headers, body } = request
      const origin = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`
      const { limits, isFinal } = silenceLimits(body, silentMs)
      const answer = await agent
        .request({ origin, path: pathOf(request), method, headers, body: body ?? null, signal, ...limits })
        .catch((cause: unknown) => {
          if (signal?.aborted === true) throw named('AbortError', cause)
          throw isFinal(cause) ? cause : retryable(cause)
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
    for (const text of Array.isArray(value) ? value : [value ?? '']) {
      pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(text)}`)
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
  return cause instanceof errors.SocketError || wasSilent(cause) ? named('TimeoutError', cause) : cause
}

function named(name: 'AbortError' | 'TimeoutError', cause: unknown): Error {
  return Object.assign(new Error(cause instanceof Error ? cause.message : String(cause), { cause }), { name })
}
