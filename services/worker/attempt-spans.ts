import { z } from 'zod'
import type { NewEvent } from '#domain/event.ts'
import type { EndedOperationStatus } from '#domain/operation.ts'
import { newSpanId, type Span, spanIdOf, type SpanRecorder } from '#domain/span.ts'
import { parseTraceparent } from '#domain/traceparent.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Ledger } from '#store/ledger/ledger.ts'

type AttemptTraces = SpanRecorder & { share: number }
type TracedLedger = Pick<Ledger, 'append' | 'claim' | 'release' | 'settle' | 'suspend'>

/**
 * Adds spans for attempts of traced runs, their turns, requests and tools, from their events once the attempt has ended, named
 * as in OpenTelemetry's conventions for generative AI. Of operations that succeed at first only `share` (0 to 1) have spans.
 */
export function tracedAttempts<Given extends TracedLedger>(ledger: Given, traces: AttemptTraces): Given {
  const { claimed, take, ending } = openAttempts(traces)
  const traced: TracedLedger = {
    async claim(...args) {
      const answer = await ledger.claim(...args)
      if (answer.kind === 'claimed') claimed(answer.attempt)
      return answer
    },
    async append(attempt, n, told) {
      const sentMs = Date.now()
      const answer = await ledger.append(attempt, n, told)
      take(attempt, answer, { events: told.events, sentMs })
      return answer
    },
    settle: (attempt, n, settlement) => {
      const { events, outcome } = settlement
      const end = { how: outcome.status, errorCode: outcome.errorCode, events }
      return ending(attempt, end, () => ledger.settle(attempt, n, settlement))
    },
    release: (attempt, n, how) => {
      const end = { how: `handed_back: ${how.reason}`, events: how.events }
      return ending(attempt, end, () => ledger.release(attempt, n, how))
    },
    suspend: (attempt, n, how) => {
      const end = { how: 'suspended', events: how.events }
      return ending(attempt, end, () => ledger.suspend(attempt, n, how))
    },
  }
  return { ...ledger, ...traced }
}

function openAttempts(traces: AttemptTraces) {
  const open = new Map<string, AttemptSpans>()
  const take = ({ token }: Attempt, { kind }: { kind: string }, { events, sentMs }: Written) => {
    if (kind === 'lost') open.delete(token)
    for (const event of events) open.get(token)?.take(event, sentMs - (event.ageMs ?? 0))
  }
  return {
    claimed(attempt: Attempt) {
      const spans = openAttemptSpans(attempt, traces)
      if (spans !== undefined) open.set(attempt.token, spans)
    },
    take,
    /** `work` ends the attempt; when it fails, the attempt has no spans. */
    async ending<T extends { kind: string }>(
      attempt: Attempt,
      { how, errorCode, events }: End,
      work: () => Promise<T>,
    ) {
      const sentMs = Date.now()
      try {
        const answer = await work()
        take(attempt, answer, { events, sentMs })
        open.get(attempt.token)?.end(how, { sentMs, errorCode })
        return answer
      } finally {
        open.delete(attempt.token)
      }
    },
  }
}

/** `sentMs`: when the command was sent, from which the ages of its events count. */
type Written = { events: readonly NewEvent[]; sentMs: number }
type End = Pick<Written, 'events'> & { how: string; errorCode?: string | undefined }

type AttemptSpans = {
  take(event: NewEvent, atMs: number): void
  /** `sentMs`: when the command was sent that has ended the attempt. */
  end(how: string, ending: { sentMs: number; errorCode: string | undefined }): void
}

function openAttemptSpans(attempt: Attempt, traces: AttemptTraces): AttemptSpans | undefined {
  const run = parseTraceparent(attempt.traceparent)
  if (run?.isSampled !== true) return undefined
  const begunMs = Date.now()
  const spanId = spanIdOf(run.spanId, attempt.operationId, attempt.attempt)
  const events: TakenEvent[] = []
  return {
    take(event, atMs) {
      if (!spanning.has(event.event)) return
      const { toolName, errorCode, durationMs } = event
      events.push({ name: event.event, toolName, errorCode, durationMs, data: EventData.parse(event.data), atMs })
    },
    end(how, { sentMs, errorCode }) {
      const isUsual = attempt.attempt === 1 && usualEnds.has(how)
      if (isUsual && Number.parseInt(spanId.slice(0, 8), 16) / 2 ** 32 >= traces.share) return
      const record = (span: Omit<Span, 'traceId'>) => traces.record({ ...span, traceId: run.traceId })
      const endMs = Date.now()
      recordTurns(events, { spanId, endMs: sentMs, errorCode }, record)
      const settle = { name: 'settle', spanId: newSpanId(), parentId: spanId, attributes: {} }
      record({ ...settle, kind: 'internal', startMs: sentMs, endMs })
      const [name, attributes] = [`invoke_agent ${attempt.bundle}`, attemptAttributes(attempt, how)]
      record({ kind: 'internal', name, spanId, parentId: run.spanId, startMs: begunMs, endMs, attributes, errorCode })
    },
  }
}

const usualEnds: ReadonlySet<string> = new Set<EndedOperationStatus>(['succeeded', 'unchanged', 'skipped'])

function recordTurns(
  events: readonly TakenEvent[],
  { spanId, endMs, errorCode: attemptError }: { spanId: string; endMs: number; errorCode: string | undefined },
  record: (span: Omit<Span, 'traceId'>) => void,
): void {
  const turnId = (turn: number) => spanIdOf(spanId, 'turn', turn)
  let turn: { number: number; startMs: number } | undefined
  const endTurn = (turnEndMs: number, errorCode?: string) => {
    if (turn === undefined) return
    const { number, startMs } = turn
    const ids = { spanId: turnId(number), parentId: spanId }
    const attributes = { 'remora.turn': number }
    record({ ...ids, kind: 'internal', name: 'turn', startMs, endMs: turnEndMs, attributes, errorCode })
    turn = undefined
  }
  for (const event of events) {
    const { data, atMs, errorCode } = event
    // A turn that code makes in place of the model has no request.
    if (event.name !== 'turn.finished' && data.turn !== turn?.number) {
      const startMs = event.name === 'tool.returned' ? atMs - (event.durationMs ?? 0) : atMs
      endTurn(startMs)
      turn = { number: data.turn, startMs }
    }
    const part = partOf(event)
    if (part !== undefined) {
      const { durationMs = data.duration_ms } = event
      // A batch of events that was sent again has later times than the one after it.
      const startMs = Math.max(atMs - durationMs, data.turn === turn?.number ? turn.startMs : 0)
      record({ ...part, parentId: turnId(data.turn), spanId: newSpanId(), startMs, endMs: atMs, errorCode })
    }
    if (event.name === 'turn.finished') endTurn(atMs, errorCode)
  }
  endTurn(endMs, attemptError)
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

/** Keeps only what spans need of an event, so that an attempt holds no texts until its end. */
type TakenEvent = Pick<NewEvent, 'toolName' | 'errorCode' | 'durationMs'> & {
  name: string
  data: z.infer<typeof EventData>
  atMs: number
}

const spanning: ReadonlySet<string> = new Set(['model.requested', 'model.responded', 'tool.returned', 'turn.finished'])

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

function partOf({
  name,
  toolName,
  errorCode,
  data,
}: TakenEvent): Pick<Span, 'name' | 'kind' | 'attributes'> | undefined {
  if (name === 'tool.returned') {
    // Tools that the model invented are all named `unknown`, or each would add a span name for ever.
    const tool = errorCode === 'TOOL_001' ? 'unknown' : (toolName ?? '')
    const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool }
    return { name: `execute_tool ${tool}`, kind: 'internal', attributes }
  }
  if (name !== 'model.responded') return undefined
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
