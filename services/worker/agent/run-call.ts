import type { RequestedCall } from '#domain/turn.ts'
import { msSince } from '#platform/clock.ts'
import { shortKnowledge } from '../context/short-knowledge.ts'
import {
  executeToolCall,
  resumeToolCall,
  type AnsweredScript,
  type SuspendedCall,
  type ToolSet,
} from '../tools/tool-set.ts'
import type { Journal } from './journal.ts'
import type { RanTool } from './transcript.ts'

export type ToolRunner = { tools: ToolSet; journal: Pick<Journal, 'emit'> }

/** A call with its result, or one that waits for a person. */
export type RanCall = SuspendedCall | { kind: 'done'; ran: RanTool }

/** Runs one call, or goes on with one that was `answered`, and tells it as two events; one that waits has only the first. */
export async function runCall(
  { tools, journal }: ToolRunner,
  { turn, call, answered }: { turn: number; call: RequestedCall; answered?: AnsweredScript | undefined },
  signal: AbortSignal,
): Promise<RanCall> {
  const flags = {
    ...(call.parsedFromContent === true ? { parsed_from_content: true } : {}),
    ...(answered === undefined ? {} : { resumed: true }),
  }
  const called = { turn, call_id: call.id, arguments: call.arguments.slice(0, 2000), ...flags }
  journal.emit({ event: 'tool.called', phase: 'tools', toolName: call.name, data: called })
  const start = performance.now()
  const executed =
    answered === undefined
      ? await executeToolCall(call, tools, signal)
      : await resumeToolCall(call, answered, tools, signal)
  if (executed.kind === 'suspended') return executed
  const { kind, ...done } = executed
  const { result } = done
  const durationMs = msSince(start)
  journal.emit({
    event: 'tool.returned',
    phase: 'tools',
    toolName: call.name,
    durationMs,
    status: result.outcome === 'error' ? 'error' : 'ok',
    ...(result.errorCode === undefined ? {} : { errorCode: result.errorCode }),
    data: {
      turn,
      call_id: call.id,
      outcome: result.outcome,
      summary: result.summary.slice(0, 1000),
      ...(Object.keys(result.knowledgeDelta).length === 0 ? {} : { knowledge: shortKnowledge(result.knowledgeDelta) }),
    },
  })
  return { kind, ran: { turn, call, ...done, durationMs } }
}
