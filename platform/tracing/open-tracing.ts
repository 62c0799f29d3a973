import { asAppError } from '#domain/error.ts'
import { newSpanId, type SpanRecorder } from '#domain/span.ts'
import { parseTraceparent } from '#domain/traceparent.ts'
import type { StoreLog } from '../log.ts'

export type Tracing = SpanRecorder & {
  samples(): boolean
  close(): Promise<void>
}

export type TracingConfig = {
  /** Base address of a collector that takes OTLP over HTTP; nothing is recorded without it. */
  endpoint: string | undefined
  headers: Readonly<Record<string, string>>
  /** Is the share (0 to 1) of the traces beginning here that is recorded. */
  share: number
}

export const noTracing: Tracing = { record() {}, samples: () => false, close: async () => {} }

/** Sends spans to a collector in batches. OpenTelemetry's SDK is loaded only where there is one; one that is away is logged as a store. */
export async function openTracing(
  { endpoint, ...config }: TracingConfig,
  about: { service: string; instance: string; log: StoreLog },
): Promise<Tracing> {
  if (endpoint === undefined) return noTracing
  const { exportSpans } = await import('./export-spans.ts')
  return exportSpans({ endpoint, ...config }, about)
}

/** Does `work` for a run, with a span of this name below the run's when the run is traced. */
export async function tracedStage<Answer>(
  { name, traceparent }: { name: string; traceparent: string | null },
  traces: SpanRecorder,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const run = parseTraceparent(traceparent)
  if (run?.isSampled !== true) return work()
  const startMs = Date.now()
  const ended = (errorCode?: string) => {
    const ids = { traceId: run.traceId, parentId: run.spanId, spanId: newSpanId() }
    traces.record({ ...ids, name, kind: 'internal', startMs, endMs: Date.now(), attributes: {}, errorCode })
  }
  try {
    const answer = await work()
    ended()
    return answer
  } catch (error) {
    ended(asAppError(error, 'TOOL_004').code)
    throw error
  }
}
