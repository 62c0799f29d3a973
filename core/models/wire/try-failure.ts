import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai'
import { ContextOverflow } from '#domain/context-overflow.ts'
import { asAppError, AppError } from '#domain/error.ts'

/** Why one try at one endpoint failed, and whether another try may fare better. */
export type TryFailure = {
  error: AppError
  /** What the server answered; undefined when it gave none, or its answer was broken. */
  status: number | undefined
  again: boolean
  retryAfterMs: number
}

/** Overload (429, 503, 529), a broken server or gateway (500, 502, 504), or a wait that was too long (408, 425). */
const passingStatuses = new Set([408, 425, 429, 500, 502, 503, 504, 529])

/** OpenAI's code, llama.cpp's type. */
const contextLengthNames = new Set<unknown>(['context_length_exceeded', 'exceed_context_size_error'])
/**
 * vLLM, and older versions of the others, say it in words alone; no status tells it from another 400.
 * "This model's maximum context length is 4096 tokens …", "the request exceeds the available context size …".
 */
const contextLengthWords = /context[ _]length|context size|maximum model length|max_model_len/i

/** Reads what the openai client threw. Its message names no credentials: it is the server's own or the socket's. */
export function toTryFailure(thrown: unknown): TryFailure {
  if (thrown instanceof APIConnectionTimeoutError) {
    return ours(new AppError('AGENT_002', 'no answer in time', { cause: thrown, phase: 'model' }))
  }
  if (thrown instanceof APIConnectionError && thrown.cause instanceof AppError) return ours(thrown.cause)
  if (thrown instanceof APIError && thrown.status !== undefined) return ofStatus(thrown, thrown.status)
  return ours(asAppError(thrown, 'AGENT_002', 'model'))
}

function ours(error: AppError): TryFailure {
  return { error, status: undefined, again: error.retry, retryAfterMs: 0 }
}

function ofStatus(cause: APIError, status: number): TryFailure {
  const said = `answered ${cause.message.slice(0, 500)}`
  const refused = new AppError('AGENT_002', said, { cause, phase: 'model' })
  if (passingStatuses.has(status)) {
    return { error: refused, status, again: true, retryAfterMs: readRetryAfter(cause.headers) }
  }
  const error = isTooLong(cause, status) ? new ContextOverflow(said, cause) : refused
  return { error, status, again: false, retryAfterMs: 0 }
}

function isTooLong({ code, type, message }: APIError, status: number): boolean {
  if (status === 413 || contextLengthNames.has(code) || contextLengthNames.has(type)) return true
  return status === 400 && contextLengthWords.test(message)
}

/** `Retry-After` in milliseconds: seconds or an HTTP date; 0 when absent, past or unreadable. */
function readRetryAfter(headers: Headers | undefined): number {
  const value = headers?.get('retry-after')
  if (value === null || value === undefined) return 0
  const seconds = Number(value)
  const ms = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000
  return Number.isFinite(ms) ? Math.max(0, ms) : 0
}

/** Whether the server will not take this request for its form; not for its length, or for what it may take later. */
export function isRefusal(thrown: unknown): boolean {
  if (!(thrown instanceof APIError) || (thrown.status !== 400 && thrown.status !== 422)) return false
  return !(toTryFailure(thrown).error instanceof ContextOverflow)
}
