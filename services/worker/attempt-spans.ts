import { z } from 'zod'
import type { NewEvent } from '#domain/event.ts'
import { newSpanId, type Span, spanIdOf, type SpanRecorder } from '#domain/span.ts'
import { parseTraceparent } from '#domain/traceparent.ts'
import type { Attempt } from '#ledger/attempt.ts'
import type { Ledger } from '#ledger/ledger.ts'

type TracedLedger = Pick<Ledger, 'append' | 'claim' | 'release' | 'settle' | 'suspend'>

/**
 * `ledger`, with spans for each attempt of a traced run, its turns, requests to the model and tools, made from its events once
 * they are written. Names and attributes of agents are those of OpenTelemetry's conventions for generative AI.
 */
export function tracedAttempts<Given extends TracedLedger>(ledger: Given, traces: SpanRecorder): Given {
  const open = new Map<string, AttemptSpans>()
  const take = ({ token }: Attempt, { events, sentMs }: Written) => {
    for (const event of events) open.get(token)?.take(event, sentMs - (event.ageMs ?? 0))
  }
  /** What a lost attempt did counts for nothing. */
  const end = (attempt: Attempt, { kind }: { kind: string }, { how, errorCode, ...written }: Ended) => {
    const { token } = attempt
    if (kind === 'lost') open.delete(token)
    take(attempt, written)
    open.get(token)?.end(how, { sentMs: written.sentMs, errorCode })
    open.delete(token)
  }
  const traced: TracedLedger = {
    async claim(...args) {
      const answer = await ledger.claim(...args)
      if (answer.kind !== 'claimed') return answer
      const spans = openAttemptSpans(answer.attempt, traces)
      if (spans !== undefined) open.set(answer.attempt.token, spans)
      return answer
    },
    async append(attempt, n, events) {
      const sentMs = Date.now()
      const answer = await ledger.append(attempt, n, events)
      if (answer.kind === 'lost') open.delete(attempt.token)
      take(attempt, { events, sentMs })
      return answer
    },
    async settle(attempt, n, settlement) {
      const sentMs = Date.now()
      const answer = await ledger.settle(attempt, n, settlement)
      const { events, outcome } = settlement
      end(attempt, answer, { how: outcome.status, errorCode: outcome.errorCode, events, sentMs })
      return answer
    },
    async release(attempt, n, how) {
      const sentMs = Date.now()
      const answer = await ledger.release(attempt, n, how)
      end(attempt, answer, { how: `handed_back: ${how.reason}`, events: how.events, sentMs })
      return answer
    },
    async suspend(attempt, n, how) {
      const sentMs = Date.now()
      const answer = await ledger.suspend(attempt, n, how)
      end(attempt, answer, { how: 'suspended', events: how.events, sentMs })
      return answer
    },
  }
  return { ...ledger, ...traced }
}

/** `sentMs`: when the command was sent, from which the ages of its events count. */
type Written = { events: readonly NewEvent[]; sentMs: number }
type Ended = Written & { how: string; errorCode?: string | undefined }

type AttemptSpans = {
  take(event: NewEvent, atMs: number): void
  /** `sentMs`: when the command was sent that has ended the attempt. */
  end(how: string, ending: { sentMs: number; errorCode: string | undefined }): void
}

/** Undefined when the run is not traced. */
function openAttemptSpans(attempt: Attempt, { record }: SpanRecorder): AttemptSpans | undefined {
  const run = parseTraceparent(attempt.traceparent)
  if (run?.isSampled !== true) return undefined
  const begunMs = Date.now()
  const { traceId } = run
  const spanId = spanIdOf(run.spanId, attempt.operationId, attempt.attempt)
  const turnId = (turn: number) => spanIdOf(spanId, 'turn', turn)
  const internal = { traceId, kind: 'internal' } as const
  let turn: { number: number; startMs: number } | undefined
  const endTurn = (endMs: number, errorCode?: string) => {
    if (turn === undefined) return
    const { number, startMs } = turn
    const attributes = { 'remora.turn': number }
    const ids = { spanId: turnId(number), parentId: spanId }
    record({ ...internal, ...ids, name: 'turn', startMs, endMs, attributes, errorCode })
    turn = undefined
  }
  return {
    take(event, atMs) {
      if (!told.has(event.event)) return
      const data = EventData.parse(event.data)
      if (event.event === 'model.requested' && data.turn !== turn?.number) {
        endTurn(atMs)
        turn = { number: data.turn, startMs: atMs }
      }
      const part = partOf(event, data)
      if (part !== undefined) {
        const ids = { traceId, parentId: turnId(data.turn), spanId: newSpanId() }
        const { durationMs = data.duration_ms, errorCode } = event
        // A batch of events that was sent again has later times than the one after it.
        const startMs = Math.max(atMs - durationMs, data.turn === turn?.number ? turn.startMs : 0)
        record({ ...ids, ...part, startMs, endMs: atMs, errorCode })
      }
      if (event.event === 'turn.finished') endTurn(atMs, event.errorCode)
    },
    end(how, { sentMs, errorCode }) {
      const endMs = Date.now()
      endTurn(sentMs, errorCode)
      const settle = { name: 'settle', spanId: newSpanId(), parentId: spanId, attributes: {} }
      record({ ...internal, ...settle, startMs: sentMs, endMs })
      const [name, attributes] = [`invoke_agent ${attempt.bundle}`, attemptAttributes(attempt, how)]
      record({ ...internal, name, spanId, parentId: run.spanId, startMs: begunMs, endMs, attributes, errorCode })
    },
  }
}

function attemptAttributes({ bundle, runId, projectId, operationId, attempt, node }: Attempt, how: string) {
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': bundle,
    'remora.run_id': runId,
    'remora.project_id': projectId,
    'remora.operation_id': operationId,
    'remora.attempt': attempt,
    'remora.end': how,
    'code.file.path': node.path,
    'code.function.name': node.qualifiedName,
  }
}

/** Events that begin or end a span. */
const told: ReadonlySet<string> = new Set(['model.requested', 'model.responded', 'tool.returned', 'turn.finished'])

const EventData = z.object({
  turn: z.number().catch(0),
  duration_ms: z.number().catch(0),
  model: z.string().optional(),
  endpoint: z.string().optional(),
  finish_reason: z.string().optional(),
  prompt_tokens: z.number().optional(),
  completion_tokens: z.number().optional(),
  first_token_ms: z.number().optional(),
  queue_ms: z.number().optional(),
  tries: z.number().optional(),
})

/** Undefined for an event that ends nothing. */
function partOf(
  event: NewEvent,
  data: z.infer<typeof EventData>,
): Pick<Span, 'name' | 'kind' | 'attributes'> | undefined {
  if (event.event === 'tool.returned') {
    // A name that the model made up would be a span of its own for ever.
    const tool = event.errorCode === 'TOOL_001' ? 'unknown' : (event.toolName ?? '')
    const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool }
    return { name: `execute_tool ${tool}`, kind: 'internal', attributes }
  }
  if (event.event !== 'model.responded') return undefined
  const server = data.endpoint === undefined ? undefined : URL.parse(data.endpoint)
  return {
    name: data.model === undefined ? 'chat' : `chat ${data.model}`,
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai_compatible',
      'gen_ai.request.model': data.model,
      'gen_ai.response.finish_reasons': data.finish_reason === undefined ? undefined : [data.finish_reason],
      'gen_ai.usage.input_tokens': data.prompt_tokens,
      'gen_ai.usage.output_tokens': data.completion_tokens,
      'server.address': server?.hostname,
      'server.port': server === undefined || server === null || server.port === '' ? undefined : Number(server.port),
      'remora.first_token_ms': data.first_token_ms,
      'remora.queue_ms': data.queue_ms,
      'remora.tries': data.tries,
    },
  }
}
