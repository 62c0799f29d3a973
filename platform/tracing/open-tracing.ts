import { type Attributes, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import { asAppError } from '#domain/error.ts'
import { newSpanId, type Span, type SpanRecorder } from '#domain/span.ts'
import { parseTraceparent } from '#domain/traceparent.ts'
import { openStoreUser, type StoreLog } from '../log.ts'
import { packageVersion } from '../package-version.ts'

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

const exportMs = 5_000
/** Above it spans are dropped: a collector that is away must cost nothing. */
const mostWaiting = 8_192
const batchSize = 512

/** Sends spans to a collector in batches. OpenTelemetry's SDK is loaded only where there is one; one that is away is logged as a store. */
export async function openTracing(
  { endpoint, headers, share }: TracingConfig,
  { service, instance, log }: { service: string; instance: string; log: StoreLog },
): Promise<Tracing> {
  if (endpoint === undefined) return noTracing
  const [{ OTLPTraceExporter }, { BatchSpanProcessor }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
  ])
  const version = packageVersion()
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: exportMs })
  const processor = new BatchSpanProcessor({
    exporter: reportedExporter(exporter, log),
    maxQueueSize: mostWaiting,
    maxExportBatchSize: batchSize,
    exportTimeoutMillis: exportMs,
  })
  const resource = resourceFromAttributes({
    'service.namespace': 'remora',
    'service.name': `remora-${service}`,
    'service.instance.id': instance,
    'service.version': version,
  })
  const scope = { name: 'remora', version }
  return {
    record: (span) => processor.onEnd(readable(span, resource, scope)),
    samples: () => Math.random() < share,
    close: () => processor.shutdown().catch(() => undefined),
  }
}

const collector = 'the collector of traces'

function reportedExporter(exporter: SpanExporter, log: StoreLog): SpanExporter {
  const user = openStoreUser(log)
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error === undefined) user.worked()
        else user.lacks(collector, result.error)
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const
const traceFlags = TraceFlags.SAMPLED

function readable(
  span: Span,
  resource: Resource,
  instrumentationScope: ReadableSpan['instrumentationScope'],
): ReadableSpan {
  const { traceId, spanId, parentId, name, kind, startMs, errorCode, attributes } = span
  const endMs = Math.max(startMs, span.endMs)
  return {
    name,
    kind: kinds[kind],
    spanContext: () => ({ traceId, spanId, traceFlags }),
    ...(parentId === undefined ? {} : { parentSpanContext: { traceId, spanId: parentId, traceFlags } }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(endMs - startMs),
    status:
      errorCode === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: errorCode },
    attributes: attributesOf(attributes, errorCode),
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

function attributesOf(given: Span['attributes'], errorCode: string | undefined): Attributes {
  const attributes: Attributes = {}
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) attributes[name] = typeof value === 'object' ? [...value] : value
  }
  if (errorCode !== undefined) attributes['error.type'] = errorCode
  return attributes
}

function hrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
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
