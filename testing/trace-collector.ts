import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { boundPort, closeServer } from '#platform/http-health.ts'

const Value = z.looseObject({ stringValue: z.string().optional() })
const Attributes = z.array(z.object({ key: z.string(), value: Value }))
const CollectedSpan = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.coerce.bigint(),
  endTimeUnixNano: z.coerce.bigint(),
  status: z.looseObject({ code: z.number().optional() }),
  attributes: Attributes,
})
const Export = z.object({
  resourceSpans: z.array(
    z.looseObject({
      resource: z.looseObject({ attributes: Attributes }),
      scopeSpans: z.array(z.looseObject({ spans: z.array(CollectedSpan) })),
    }),
  ),
})
export type CollectedSpan = z.infer<typeof CollectedSpan> & { service: string | undefined }

export type TraceCollector = {
  endpoint: string
  spans: CollectedSpan[]
  /** The `authorization` headers that came. */
  authorized: (string | undefined)[]
  close(): Promise<void>
}

/** A collector that takes OTLP over HTTP as JSON, and keeps it. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = []
  const authorized: (string | undefined)[] = []
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    authorized.push(request.headers.authorization)
    const { resourceSpans } = Export.parse(await json(request))
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = attributeOf(resource, 'service.name')
      spans.push(...scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service }))))
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }
  const server = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${boundPort(server)}`
  return { endpoint, spans, authorized, close: () => closeServer(server) }
}

export function attributeOf(
  { attributes }: { attributes: z.infer<typeof Attributes> },
  key: string,
): string | undefined {
  return attributes.find((one) => one.key === key)?.value.stringValue
}
