import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai'
import { AppError, asAppError, ContextOverflow, CutReply, type ModelFaultKind } from '#domain/error.ts'
import { isRecord } from '#domain/json.ts'

export type TryFailure = {
  error: AppError
  status: number | undefined
  again: boolean
  retryAfterMs: number
  /** A `request` is at fault by its form, its length, or a reply that nobody can read. */
  kind: 'request' | ModelFaultKind
  hasHung?: boolean
}

/** These mean overload (429, 503, 529), a broken server or gateway (500, 502, 504), or a wait that was too long (408, 425). */
const passingStatuses = new Set([408, 425, 429, 500, 502, 503, 504, 529])

/** The form or the length of the request is wrong. Any other status of a server says something about the server. */
const requestStatuses = new Set([400, 405, 411, 413, 414, 415, 422, 431])
const keyStatuses = new Set([401, 403])
/** It comes first, since what a server says may be long. */
const keyHint = 'refuses the key (set REMORA_MODEL_API_KEY): '
const unsentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])

const contextLengthNames = new Set<unknown>(['context_length_exceeded', 'exceed_context_size_error'])
/** vLLM and others say only in words that a request is longer than the context. */
const contextLengthWords = /context[ _]length|context size|maximum model length|max_model_len/i

/** Reads what the openai client threw. Its message has no credentials: it is the server's own or the socket's. */
export function toTryFailure(thrown: unknown): TryFailure {
  if (thrown instanceof APIConnectionTimeoutError) {
    const late = new AppError('AGENT_002', 'no answer in time', { cause: thrown, phase: 'model' })
    return { ...ours(late), hasHung: true }
  }
  if (thrown instanceof LateReply) return { ...ours(thrown), hasHung: true }
  if (thrown instanceof APIConnectionError && thrown.cause instanceof AppError) return ours(thrown.cause)
  if (thrown instanceof APIError && thrown.status !== undefined) return ofStatus(thrown, thrown.status)
  return ours(asAppError(thrown, 'AGENT_002', 'model'))
}

function ours(error: AppError): TryFailure {
  const kind = error.code !== 'AGENT_002' ? 'request' : isUnsent(error) ? 'unsent' : 'doubtful'
  return { error, status: undefined, again: error.retry, retryAfterMs: 0, kind }
}

function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && unsentCodes.has(String(error.code))) || isUnsent(error.cause)
}

function ofStatus(cause: APIError, status: number): TryFailure {
  const message = `${keyStatuses.has(status) ? keyHint : ''}answered ${cause.message.slice(0, 500)}`
  const refused = new AppError('AGENT_002', message, { cause, phase: 'model' })
  if (passingStatuses.has(status)) {
    const retryAfterMs = readRetryAfter(cause.headers)
    return { error: refused, status, again: true, retryAfterMs, kind: kindOf(status) }
  }
  const error = isTooLong(cause, status) ? new ContextOverflow(message, cause) : refused
  return {
    error,
    status,
    again: false,
    retryAfterMs: 0,
    kind: requestStatuses.has(status) ? 'request' : kindOf(status),
  }
}

function kindOf(status: number): ModelFaultKind {
  if (status === 429 || status === 529) return 'busy'
  return status === 500 || status === 408 ? 'doubtful' : 'server'
}

function isTooLong({ code, type, message }: APIError, status: number): boolean {
  if (status === 413 || contextLengthNames.has(code) || contextLengthNames.has(type)) return true
  return status === 400 && contextLengthWords.test(message)
}

function readRetryAfter(headers: Headers | undefined): number {
  const value = headers?.get('retry-after')
  if (value === null || value === undefined) return 0
  const seconds = Number(value)
  const ms = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000
  return Number.isFinite(ms) ? Math.max(0, ms) : 0
}

/** Tells whether the server refuses the form of this request: not its length, and not for a reason that may pass. */
export function isRefusal(thrown: unknown): boolean {
  if (!(thrown instanceof APIError) || (thrown.status !== 400 && thrown.status !== 422)) return false
  return !(toTryFailure(thrown).error instanceof ContextOverflow)
}

export class LateReply extends AppError {
  constructor() {
    super('AGENT_002', 'the answer did not end in time', { phase: 'model' })
  }
}

export function brokenReply(message: string, cause?: unknown): AppError {
  return new AppError('AGENT_008', message, { cause, phase: 'model' })
}

/** Some servers give no status, only words. */
const statusWords: readonly [RegExp, number][] = [
  [/rate_?limit|too_?many|overloaded|capacity|quota/i, 429],
  [/context|invalid_?request|bad_?request/i, 400],
  [/unavailable/i, 503],
]

/**
 * Reads the error that a server has put in place of its answer, or of a part of a stream: `{"error": {"message", "type",
 * "code"}}`, `{"error": "text"}` or vLLM's older `{"object": "error", …}`. With a status it is the error of that, else
 * AGENT_008. `shown` removes secrets.
 */
export function serverError(value: unknown, shown: (part: unknown) => unknown): Error | undefined {
  if (!isRecord(value)) return undefined
  const { error: given = value['object'] === 'error' ? value : undefined } = value
  if (given === undefined || given === null) return undefined
  const error = shown(given)
  const status = statusOf(error)
  if (status !== undefined) return APIError.generate(status, { error }, undefined, new Headers())
  const words = isRecord(error) ? error['message'] : error
  const message = typeof words === 'string' ? words : JSON.stringify(error)
  return new CutReply(`the server broke off: ${message.slice(0, 500)}`)
}

function statusOf(error: unknown): number | undefined {
  if (!isRecord(error)) return undefined
  const { code, status, type } = error
  const number = [code, status].map(asNumber).find((given) => given >= 400 && given < 600)
  const words = [code, type].filter((word) => typeof word === 'string').join(' ')
  return number ?? statusWords.find(([word]) => word.test(words))?.[1]
}

function asNumber(given: unknown): number {
  return typeof given === 'string' || typeof given === 'number' ? Number(given) : Number.NaN
}
