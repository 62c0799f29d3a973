import { randomBytes } from 'node:crypto'

// The form of https://www.w3.org/TR/trace-context/: version, trace id, id of the parent's span, flags.
const form = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** A header as it came; null for none, and for one that is no `traceparent` of version 00. */
export function traceparentOf(header: string | undefined): string | null {
  return header !== undefined && form.test(header) ? header : null
}

/** For what nobody traces: its log lines still have a trace id in common. The flags say that it is not sampled. */
export function newTraceparent(): string {
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`
}

/** 32 hexadecimal digits; undefined where there is no trace. */
export function traceIdOf(traceparent: string | null): string | undefined {
  return traceparent === null ? undefined : form.exec(traceparent)?.[1]
}
