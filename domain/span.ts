import { hash } from 'node:crypto'
import type { TraceParent } from './traceparent.ts'

/** Work that is done: a span is made of what the events say when it has taken effect, so what was lost has none. */
export type Span = {
  /** Has 32 hexadecimal digits. */
  traceId: string
  /** Has 16 hexadecimal digits. */
  spanId: string
  parentId?: string | undefined
  name: string
  kind: 'internal' | 'server' | 'client'
  /** Is in milliseconds since the epoch. */
  startMs: number
  endMs: number
  attributes: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
  errorCode?: string | undefined
}

/** Takes spans, and never fails. */
export type SpanRecorder = { record(span: Span): void }

/** The same words give the same id in every process, so that a span can be sent before the one above it. */
export function spanIdOf(parentId: string, ...words: readonly (string | number)[]): string {
  return hash('sha1', [parentId, ...words].join(' ')).slice(0, 16)
}

export function newSpanId(): string {
  return halfId() + halfId()
}

const halfId = () => ((Math.random() * 2 ** 32) >>> 0).toString(16).padStart(8, '0')

/** The id of the span of the request that began a run, which is the parent of the run's own. */
export function requestSpanId({ spanId }: Pick<TraceParent, 'spanId'>): string {
  return spanIdOf(spanId, 'request')
}
