import { randomBytes } from 'node:crypto'

// The form of https://www.w3.org/TR/trace-context/: version, trace id, id of the parent's span, flags.
const form = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/
const sampledFlag = 1

export type TraceParent = { traceId: string; spanId: string; isSampled: boolean }

/** Returns null for none, and for one that is no `traceparent` of version 00. */
export function parseTraceparent(text: string | null | undefined): TraceParent | null {
  const [, traceId, spanId, flags] = form.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) === sampledFlag }
}

/** The `traceparent` of a new span: in the trace of `parent`, or in a new one, of which `isSampled` says whether it is recorded. */
export function newTraceparent(parent: TraceParent | null, isSampled = false): string {
  const { traceId = randomBytes(16).toString('hex'), isSampled: recorded = isSampled } = parent ?? {}
  return `00-${traceId}-${randomBytes(8).toString('hex')}-${recorded ? '01' : '00'}`
}

/** Returns 32 hexadecimal digits; undefined where there is no trace. */
export function traceIdOf(traceparent: string | null): string | undefined {
  return parseTraceparent(traceparent)?.traceId
}
