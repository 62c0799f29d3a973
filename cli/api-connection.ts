import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { z } from 'zod'
import { AppError, type ErrorCode, isErrorCode } from '#domain/error.ts'
import { delay } from '#platform/clock.ts'
import { parseJson } from '#domain/json.ts'
import { answerFits } from '#schemas/wire-parts.ts'
import { withoutLogin, withoutLogins } from '#platform/hide-secrets.ts'
import { type Answer, openHttpTransport, type Outgoing, type Transport } from './api-transport.ts'

export class ApiProblem extends AppError {
  readonly document: Readonly<Record<string, unknown>>
  readonly retryAfterMs: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    about: { phase?: string; document: ApiProblem['document']; retryAfterMs?: number | undefined },
  ) {
    // One that says when to ask again needs no other advice.
    super(code, message, { ...about, advised: about.retryAfterMs !== undefined })
    this.document = about.document
    this.retryAfterMs = about.retryAfterMs
  }
}

export type Query = Readonly<Record<string, string | number | undefined>>
/** `archive` can be read several times. */
export type Multipart = { request: string; archive: AsyncIterable<Uint8Array> }

/**
 * Sends HTTP requests to the API at `url`. An answer that is a problem is thrown as an ApiProblem with its code and phase; no
 * answer, or one of another program, is CONFIG_006. What is refused since the token sends too many requests is sent again after the time
 * that the service asks for, a few times. Aborting `signal` ends every request with its reason.
 */
export type ApiConnection = {
  get<S extends z.ZodType>(path: string, schema: S, query?: Query): Promise<z.output<S>>
  /** Sends an idempotency key of its own, and sends again only what the service has not begun with. */
  post<S extends z.ZodType>(path: string, document: object, schema: S): Promise<z.output<S>>
  /** The same for a form with an archive, which is sent while it is read, and read anew when the form is sent again. */
  postForm<S extends z.ZodType>(path: string, fields: Multipart, schema: S): Promise<z.output<S>>
  put<S extends z.ZodType>(path: string, schema: S, document?: object): Promise<z.output<S>>
  delete(path: string): Promise<void>
  getText(path: string, type: string): Promise<string>
  /** The body while it arrives, and what the header `remora-composition` says; undefined for 204. */
  getStream(path: string): Promise<StreamedBody | undefined>
  close(): Promise<void>
}

export type StreamedBody = { body: AsyncIterable<Uint8Array>; composition: string | undefined }

const Problem = z.looseObject({
  title: z.string().default('error'),
  detail: z.string().optional(),
  error_code: z.string().optional(),
  phase: z.string().optional(),
})

export type ApiAddress = {
  url: string
  token: string | undefined
  signal: AbortSignal
  /** Answers for a service that is in this process; by default the service is asked over HTTP. */
  transport?: Transport
  /** Nobody composes patches: what is not composed yet is thrown at once. */
  isIdle?: boolean
}
type Options = Omit<ApiAddress, 'transport'>

export function openApiConnection({ transport = openHttpTransport(), ...options }: ApiAddress): ApiConnection {
  const send = (path: string, outgoing: Outgoing) => sendWhenTaken(path, outgoing, { ...options, transport })
  const post = (path: string, type: string, body: (() => Readable) | string) =>
    send(path, { method: 'POST', headers: { 'content-type': type, 'idempotency-key': randomUUID() }, body })
  return {
    async get(path, schema, query = {}) {
      const search = new URLSearchParams()
      for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
      const target = search.size === 0 ? path : `${path}?${search.toString()}`
      return readJson(await send(target, { method: 'GET' }), schema, options)
    },
    async post(path, document, schema) {
      return readJson(await post(path, 'application/json', JSON.stringify(document)), schema, options)
    },
    async postForm(path, fields, schema) {
      const boundary = `remora-${randomUUID()}`
      const body = () => Readable.from(multipartBody(fields, boundary), { objectMode: false })
      return readJson(await post(path, `multipart/form-data; boundary=${boundary}`, body), schema, options)
    },
    async put(path, schema, document) {
      const headers = { 'content-type': 'application/json' }
      const body = document && { headers, body: JSON.stringify(document) }
      return readJson(await send(path, { method: 'PUT', ...body }), schema, options)
    },
    async delete(path) {
      const answer = await send(path, { method: 'DELETE' })
      await answer.dump()
    },
    async getText(path, type) {
      const answer = await send(path, { method: 'GET' })
      const text = await wholeBody(answer, options)
      if (answer.header('content-type')?.split(';')[0] !== type) throw strangeAnswer(options.url, answer)
      return text
    },
    async getStream(path) {
      const answer = await send(path, { method: 'GET' })
      if (answer.status !== 204) return { body: answer.body, composition: answer.header('remora-composition') }
      await answer.dump()
      return undefined
    },
    close: transport.close,
  }
}

async function sendRequest(
  path: string,
  outgoing: Outgoing,
  { url, token, transport, signal }: Options & { transport: Transport },
): Promise<Answer> {
  const headers = { ...outgoing.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const answer = await transport.send(`${url}${path}`, { ...outgoing, headers }, signal).catch((error: unknown) => {
    signal.throwIfAborted()
    throw noAnswer(url, error)
  })
  if (answer.status < 300) return answer
  throw problemError(url, answer, await answer.text().catch(() => ''))
}

/** Says, by the code of an answer that tells when to ask again, how often that is done, and for how long at most in all. */
const askedAgain: Readonly<Record<string, { times: number; withinMs: number }>> = {
  LIMIT_001: { times: 5, withinMs: Infinity },
  RUN_006: { times: Infinity, withinMs: 120_000 }, // the patch is being composed, and perhaps tested, by a worker
}
const mostWaitMs = 60_000

async function sendWhenTaken(path: string, outgoing: Outgoing, options: Parameters<typeof sendRequest>[2]) {
  const startedAt = performance.now()
  for (let waits = 0; ; waits += 1) {
    try {
      return await sendRequest(path, outgoing, options)
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.retryAfterMs === undefined) throw error
      const most = options.isIdle === true ? undefined : askedAgain[error.code]
      if (most === undefined || waits >= most.times || performance.now() - startedAt > most.withinMs) throw error
      await delay(Math.min(error.retryAfterMs, mostWaitMs), options.signal)
    }
  }
}

async function readJson<S extends z.ZodType>(answer: Answer, schema: S, options: Options): Promise<z.output<S>> {
  const document = parseJson(await wholeBody(answer, options))
  if (!answerFits(schema, document)) throw strangeAnswer(options.url, answer)
  return document
}

function wholeBody(answer: Answer, { url, signal }: Options): Promise<string> {
  return answer.text().catch((error: unknown) => {
    signal.throwIfAborted()
    throw noAnswer(url, error)
  })
}

/** Is never whole in memory: `request` comes first, as the API requires, then the archive. */
async function* multipartBody({ request: document, archive }: Multipart, boundary: string): AsyncGenerator<Uint8Array> {
  const part = (disposition: string, type: string) =>
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\ncontent-type: ${type}\r\n\r\n`)
  yield part('name="request"', 'application/json')
  yield Buffer.from(`${document}\r\n`)
  yield part('name="archive"; filename="archive"', 'application/octet-stream')
  yield* archive
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}

/** A failure of our own upload stream keeps its code. */
function noAnswer(url: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  const [reason = ''] = (cause instanceof Error ? cause.message || cause.name : String(cause)).trim().split('\n')
  const advice = 'see that it runs there, or correct REMORA_API_URL'
  const message = `The service at ${withoutLogin(url)} does not answer: ${withoutLogins(reason)}; ${advice}`
  return new AppError('CONFIG_006', message, { cause })
}

function problemError(url: string, answer: Answer, body: string): AppError {
  const problem = Problem.safeParse(parseJson(body)).data
  const words = problem?.detail ?? problem?.title ?? ''
  if (!isErrorCode(problem?.error_code)) return strangeAnswer(url, answer, words)
  const { error_code: code, phase } = problem
  const retryAfterS = Number(answer.header('retry-after') ?? Number.NaN)
  const retryAfterMs = retryAfterS >= 0 ? retryAfterS * 1000 : undefined
  return new ApiProblem(code, words, { document: problem, retryAfterMs, ...(phase !== undefined && { phase }) })
}

/** Reports an answer of another program, of a proxy in front of the service, or of a service of another version. */
function strangeAnswer(url: string, { status }: Answer, words = ''): AppError {
  const summary = words === '' ? `status ${status}` : `${status}: ${words}`
  return new AppError(
    'CONFIG_006',
    `${withoutLogin(url)} does not answer as a Remora of this version does (${summary}): correct REMORA_API_URL, or see what runs there`,
  )
}
