import type { Context } from 'hono'
import { requestSpanId, type SpanRecorder } from '#domain/span.ts'
import { newTraceparent, parseTraceparent } from '#domain/traceparent.ts'
import type { Correlation } from '#stages/intake/accept-run.ts'
import type { ApiEnv } from '../../http/api-env.ts'

export type RequestTraces = SpanRecorder & { samples(): boolean }

/** The run's trace is that of the caller's `traceparent`, or a new one. A request that is refused has no span. */
export async function tracedRequest<Answer>(
  { req, get }: Context<ApiEnv>,
  traces: RequestTraces,
  answer: (correlation: Correlation) => Promise<Answer>,
): Promise<Answer> {
  const startMs = Date.now()
  const caller = parseTraceparent(req.header('traceparent'))
  const traceparent = newTraceparent(caller, traces.samples())
  const answered = await answer({ requestId: get('requestId'), traceparent })
  const run = parseTraceparent(traceparent)
  if (run?.isSampled === true) {
    traces.record({
      traceId: run.traceId,
      spanId: requestSpanId(run),
      parentId: caller?.spanId,
      name: `${req.method} /v1/runs`,
      kind: 'server',
      startMs,
      endMs: Date.now(),
      attributes: { 'http.request.method': req.method, 'url.path': req.path },
    })
  }
  return answered
}
