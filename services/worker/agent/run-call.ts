import type { RequestedCall } from '#domain/turn.ts'
import { msSince } from '#platform/clock.ts'
import {
  executeToolCall,
  resumeToolCall,
  type AnsweredScript,
  type SuspendedCall,
  type ToolSet,
} from '../tools/tool-set.ts'
import { calledEvent, returnedEvent } from './call-events.ts'
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
  journal.emit(calledEvent(turn, call, answered === undefined ? {} : { resumed: true }))
  const start = performance.now()
  const executed =
    answered === undefined
      ? await executeToolCall(call, tools, signal)
      : await resumeToolCall(call, answered, tools, signal)
  if (executed.kind === 'suspended') return executed
  const { kind, ...done } = executed
  const ran = { turn, call, ...done, durationMs: msSince(start) }
  journal.emit(returnedEvent(ran))
  return { kind, ran }
}
