import { AppError } from '#domain/error.ts'

/** GitHub's limits end within an hour; what a host asks for beyond that is not believed. */
const longestMs = 3_600_000

/** Is HOST_001 of a code host that says when it may be asked again: in an hour at most. */
export class CodeHostBusy extends AppError {
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number, options: { cause?: unknown } = {}) {
    super('HOST_001', message, options)
    this.retryAfterMs = Math.min(retryAfterMs, longestMs)
  }
}

/** Spreads what waits for the same limit over this share of the wait, or over a minute. */
const spread = 0.1
const widestMs = 60_000

/** `Retry-After` counts, else the end of GitHub's limit by GitHub's own clock (`Date`). Undefined means that the answer does not say. */
export function retryAfterIn(headers: Readonly<Record<string, unknown>>): number | undefined {
  const seconds = Number(headers['retry-after'] ?? NaN)
  if (seconds >= 0) return seconds * 1_000
  const reset = headers['x-ratelimit-remaining'] === '0' ? Number(headers['x-ratelimit-reset'] ?? NaN) : NaN
  if (!(reset > 0)) return undefined
  const theirs = Date.parse(String(headers['date']))
  return Math.max(0, reset * 1_000 - (Number.isNaN(theirs) ? Date.now() : theirs))
}

/** Returns when to try again after a fault that may pass: as the host asks, else after `usualMs`. Not all come at once. */
export function pauseAfter(fault: unknown, usualMs: number): number {
  if (!(fault instanceof CodeHostBusy)) return usualMs
  const pauseMs = fault.retryAfterMs
  return Math.max(usualMs, pauseMs + Math.random() * Math.min(pauseMs * spread, widestMs))
}
