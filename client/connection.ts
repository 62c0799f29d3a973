import { pause } from './timers.ts'

/** The service answered with a problem document. `code` is its `error_code`, of docs/reference/errors.md. */
export class RemoraProblem extends Error {
  override readonly name = 'RemoraProblem'
  readonly code: string
  readonly status: number
  readonly document: Readonly<Record<string, unknown>>
  /** Says after which time the service wants to be asked again. */
  readonly retryAfterMs: number | undefined

  constructor(answer: Response, code: string, document: Readonly<Record<string, unknown>>) {
    super(wordsOf(document))
    this.code = code
    this.status = answer.status
    this.document = document
    const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN)
    this.retryAfterMs = seconds >= 0 ? seconds * 1000 : undefined
  }
}

/** Nothing answered, or the answer broke off (`cause` says why), or what answered is no Remora: then `status` is that of its answer. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly status: number | undefined

  constructor(message: string, { status, cause }: { status?: number; cause?: unknown }) {
    super(message, { cause })
    this.status = status
  }
}

export type Query = Readonly<Record<string, string | number | undefined>>

export type Outgoing = {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  query?: Query
  json?: object
  /** Makes the body anew for each time that it is sent. */
  body?: () => FormData | ReadableStream<Uint8Array>
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
}

export type ConnectionOptions = {
  /** The address of the service, such as `http://127.0.0.1:8420`. */
  url: string
  token?: string | undefined
  /** Ends every request with its reason. */
  signal?: AbortSignal | undefined
  /** Sends the requests instead of the `fetch` of the platform. */
  fetch?: ((url: string, init: RequestInit) => Response | Promise<Response>) | undefined
  /** Throws at once what the service asks to be asked again. */
  isImpatient?: boolean | undefined
}

/**
 * Sends HTTP requests to a service. An answer that is a problem is thrown as a RemoraProblem, anything else that is no answer of a Remora
 * as NoAnswer. What is refused since the token sends too many requests, or is not composed yet, is sent again after the time that the
 * service asks for, a few times; nothing else is repeated. A POST has an idempotency key of its own.
 */
export type Connection = {
  send(path: string, outgoing?: Outgoing): Promise<Response>
  /** Returns the JSON of the answer as it is: nothing checks that it is a `T`. */
  json<T>(path: string, outgoing?: Outgoing): Promise<T>
  text(answer: Response): Promise<string>
  /** Yields the text of an answer while it arrives, cut anywhere. */
  parts(answer: Response, signal: AbortSignal): AsyncGenerator<string, void, undefined>
}

/** Says, by the code of a problem that tells when to ask again, how often that is done, and for how long at most in all. */
const askedAgain: Readonly<Record<string, { times: number; withinMs: number }>> = {
  LIMIT_001: { times: 5, withinMs: Infinity },
  RUN_006: { times: Infinity, withinMs: 120_000 }, // the patch is being composed, and perhaps tested, by a worker
}
const mostWaitMs = 60_000

export function openConnection(options: ConnectionOptions): Connection {
  const send = async (path: string, outgoing: Outgoing = {}) => {
    const request = requestOf(path, outgoing, options)
    const startedAt = performance.now()
    for (let waits = 0; ; waits += 1) {
      try {
        return await sendOnce(request, outgoing.body, options)
      } catch (error) {
        if (!(error instanceof RemoraProblem) || error.retryAfterMs === undefined) throw error
        const most = options.isImpatient === true ? undefined : askedAgain[error.code]
        if (most === undefined || waits >= most.times || performance.now() - startedAt > most.withinMs) throw error
        await pause(Math.min(error.retryAfterMs, mostWaitMs), request.signal)
      }
    }
  }
  const text = (answer: Response) => answer.text().catch((cause: unknown) => broken(cause, options.signal))
  const json = async <T>(path: string, outgoing?: Outgoing): Promise<T> => {
    const answer = await send(path, outgoing)
    const body = await text(answer)
    try {
      return JSON.parse(body)
    } catch (cause) {
      throw new NoAnswer('the answer is no JSON', { status: answer.status, cause })
    }
  }
  return { send, json, text, parts: textParts }
}

type SentRequest = { url: string; init: RequestInit; signal: AbortSignal | undefined }

function requestOf(path: string, outgoing: Outgoing, { url, token, signal: whole }: ConnectionOptions): SentRequest {
  const { method = 'GET', query = {}, json, headers } = outgoing
  const target = new URL(`${url}${path}`)
  // No `fetch` takes a login in an address.
  target.username = ''
  target.password = ''
  for (const [name, value] of Object.entries(query)) if (value !== undefined) target.searchParams.set(name, `${value}`)
  const signals = [whole, outgoing.signal].filter((signal) => signal !== undefined)
  const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0]
  const own = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(method === 'POST' && { 'idempotency-key': randomKey() }),
    ...(json !== undefined && { 'content-type': 'application/json' }),
  }
  const body = json === undefined ? {} : { body: JSON.stringify(json) }
  // Another address may be that of another program, which the token is not for.
  const init: RequestInit = { method, headers: { ...own, ...headers }, redirect: 'manual', ...body }
  return { url: target.href, init: signal === undefined ? init : { ...init, signal }, signal }
}

async function sendOnce(
  { url, init, signal }: SentRequest,
  makeBody: Outgoing['body'],
  { fetch: given }: ConnectionOptions,
): Promise<Response> {
  const send = given ?? fetch
  const body = makeBody === undefined ? {} : { body: makeBody(), duplex: 'half' as const }
  let answer: Response
  try {
    answer = await send(url, { ...init, ...body })
  } catch (cause) {
    return broken(cause, signal)
  }
  if (answer.ok) return answer
  const document = parsed(await answer.text().catch(() => ''))
  if (!isRecord(document)) throw new NoAnswer('', { status: answer.status })
  const { error_code: code } = document
  if (typeof code !== 'string') throw new NoAnswer(wordsOf(document), { status: answer.status })
  throw new RemoraProblem(answer, code, document)
}

/** Not every browser iterates over a stream. */
async function* textParts({ body }: Response, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const part = await reader?.read().catch((cause: unknown) => broken(cause, signal))
    if (part === undefined || part.done) return
    yield decoder.decode(part.value, { stream: true })
  }
}

/** A `fetch` says in the cause of its error what happened, and in the error that it failed. */
function broken(error: unknown, signal: AbortSignal | undefined): never {
  signal?.throwIfAborted()
  const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error
  const text = cause instanceof Error ? cause.message || cause.name : String(cause)
  throw new NoAnswer(text, { cause })
}

function wordsOf({ detail, title }: Readonly<Record<string, unknown>>): string {
  return typeof detail === 'string' ? detail : typeof title === 'string' ? title : ''
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `crypto.randomUUID` is missing in pages that are not served over TLS. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
