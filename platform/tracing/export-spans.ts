import { type Attributes, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace'
import type { Span } from '#domain/span.ts'
import { openStoreUser, type StoreLog } from '../log.ts'
import { packageVersion } from '../package-version.ts'
import type { Tracing, TracingConfig } from './open-tracing.ts'

const exportMs = 5_000
/** Above it spans are dropped: a collector that is away must cost nothing. */
const mostWaiting = 8_192
const batchSize = 512

/** Sends spans to the collector in batches, with OpenTelemetry's SDK. */
export function exportSpans(
  { endpoint, headers, share }: TracingConfig & { endpoint: string },
  { service, instance, log }: { service: string; instance: string; log: StoreLog },
): Tracing {
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
