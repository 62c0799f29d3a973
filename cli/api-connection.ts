import type { z } from 'zod'
import {
  type Connection,
  NoAnswer,
  openConnection,
  type Outgoing,
  type Query,
  RemoraProblem,
} from '#client/connection.ts'
import { readStream, type StreamOptions } from '#client/read-stream.ts'
import { type Archive, submissionForm } from '#client/multipart.ts'
import { AppError, type ErrorCode, isErrorCode } from '#domain/error.ts'
import { withoutLogin, withoutLogins } from '#platform/hide-secrets.ts'
import { Frame as FrameShape } from '#schemas/frame-schema.ts'
import { answerFits } from '#schemas/wire-parts.ts'

export class ApiProblem extends AppError {
  readonly document: RemoraProblem['document']
  readonly retryAfterMs: number | undefined

  constructor(code: ErrorCode, { message, document, retryAfterMs }: RemoraProblem) {
    const { phase } = document
    // One that says when to ask again needs no other advice.
    super(code, message, { ...(typeof phase === 'string' && { phase }), advised: retryAfterMs !== undefined })
    this.document = document
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * Is the client's connection for commands, which check what is answered. An answer that is a problem is thrown as an ApiProblem with its
 * code and phase; no answer, or one of another program, is CONFIG_006.
 */
export type ApiConnection = ReturnType<typeof openApiConnection>

export type ApiAddress = {
  url: string
  token: string | undefined
  signal: AbortSignal
  /** Answers for a service that is in this process; by default the service is asked over HTTP. */
  answer?: (request: Request) => Response | Promise<Response>
  /** Nobody composes patches: what is not composed yet is thrown at once. */
  isIdle?: boolean
}

export function openApiConnection({ answer, isIdle, ...address }: ApiAddress) {
  const inProcess = answer && ((url: string, init: RequestInit) => answer(new Request(url, init)))
  const connection = openConnection({ ...address, fetch: inProcess, isImpatient: isIdle })
  const asked = <T>(use: (connection: Connection) => Promise<T>) =>
    use(connection).catch((error: unknown) => {
      throw cliError(error, address.url)
    })
  const read = async <S extends z.ZodType>(path: string, schema: S, outgoing: Outgoing): Promise<z.output<S>> => {
    const document = await asked(({ json }) => json<unknown>(path, outgoing))
    if (!answerFits(schema, document)) throw strangeAnswer(address.url, 'its answer has another form')
    return document
  }
  return {
    /** Throws the errors of commands for those of the client. */
    asked,
    get: <S extends z.ZodType>(path: string, schema: S, query: Query = {}) => read(path, schema, { query }),
    /** Sends an idempotency key of its own, and sends again only what the service has not begun with. */
    post: <S extends z.ZodType>(path: string, document: object, schema: S) =>
      read(path, schema, { method: 'POST', json: document }),
    /** The same for a form with an archive, which is sent while it is read, and read anew when the form is sent again. */
    postForm: <S extends z.ZodType>(path: string, request: object, archive: Archive, schema: S) =>
      read(path, schema, submissionForm(request, archive)),
    put: <S extends z.ZodType>(path: string, schema: S, document?: object) =>
      read(path, schema, { method: 'PUT', ...(document && { json: document }) }),
    async delete(path: string): Promise<void> {
      await asked(({ text, send }) => send(path, { method: 'DELETE' }).then(text))
    },
    async getText(path: string, type: string): Promise<string> {
      const response = await asked(({ send }) => send(path))
      const whole = await asked(({ text }) => text(response))
      if (response.headers.get('content-type')?.split(';')[0] === type) return whole
      throw strangeAnswer(address.url, 'its answer is of another type')
    },
    /** Yields what the client's `readStream` does, checked. */
    stream: (path: string, options: StreamOptions) =>
      checkedFrames(readStream(connection, path, options), FrameShape, address.url),
    /** The same of another stream, whose frames have another schema. */
    follow: <S extends z.ZodType>(path: string, schema: S) =>
      checkedFrames(readStream(connection, path, { signal: address.signal }), schema, address.url),
    /** The body while it arrives, and what the header `remora-composition` says; undefined for 204. */
    async getStream(path: string): Promise<StreamedBody | undefined> {
      const { status, body, headers } = await asked(({ send }) => send(path))
      if (status === 204 || body === null) return undefined
      return { body, composition: headers.get('remora-composition') ?? undefined }
    },
  }
}

async function* checkedFrames<S extends z.ZodType>(frames: AsyncIterable<unknown>, schema: S, url: string) {
  try {
    for await (const frame of frames) {
      if (!answerFits(schema, frame)) throw strangeAnswer(url, 'a frame of its stream has another form')
      yield frame
    }
  } catch (error) {
    throw cliError(error, url)
  }
}

export type StreamedBody = { body: AsyncIterable<Uint8Array>; composition: string | undefined }

/** A failure of our own upload stream keeps its code. */
function cliError(error: unknown, url: string): unknown {
  if (error instanceof RemoraProblem)
    return isErrorCode(error.code) ? new ApiProblem(error.code, error) : strangeAnswer(url, error.message, error.status)
  if (!(error instanceof NoAnswer)) return error
  const { cause, status, message } = error
  if (status !== undefined) return strangeAnswer(url, message, status)
  if (cause instanceof AppError) return cause
  const [reason = ''] = message.trim().split('\n')
  const advice = 'see that it runs there, or correct REMORA_API_URL'
  return new AppError(
    'CONFIG_006',
    `The service at ${withoutLogin(url)} does not answer: ${withoutLogins(reason)}; ${advice}`,
    { cause },
  )
}

/** Reports an answer of another program, of a proxy in front of the service, or of a service of another version. */
function strangeAnswer(url: string, words: string, status?: number): AppError {
  const summary = [...(status === undefined ? [] : [`status ${status}`]), ...(words === '' ? [] : [words])].join(': ')
  return new AppError(
    'CONFIG_006',
    `${withoutLogin(url)} does not answer as a Remora of this version does (${summary}): correct REMORA_API_URL, or see what runs there`,
  )
}
