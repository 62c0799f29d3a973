import { asAppError } from '#domain/error.ts'
import { newSpanId, type SpanRecorder } from '#domain/span.ts'
import { parseTraceparent } from '#domain/traceparent.ts'

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
