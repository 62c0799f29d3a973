import type { RequestedCall } from '#domain/turn.ts'
import { submitToolName } from '#bundles/tool-definition.ts'
import type { SuspendedLoop } from '#store/objects/attempt-record.ts'
import { openSemaphore } from '#platform/limit-concurrency.ts'
import { msSince } from '#platform/clock.ts'
import {
  type AnsweredCall,
  executeToolCall,
  resumeToolCall,
  type SuspendedCall,
  type ToolSet,
} from '../tools/tool-set.ts'
import type { AgentSettings } from './agent-settings.ts'
import { type SubmissionAnswer, type SubmissionCount, submit, type Submitter } from './submission.ts'
import type { RanTool, Transcript } from './open-transcript.ts'
import { repeatNote, repeatsOf } from './repeated-call.ts'
import { calledEvent, type Journal, returnedEvent } from './journal.ts'

type ToolRunner = { tools: ToolSet; journal: Pick<Journal, 'emit'> }

export type CallRunner = ToolRunner &
  Submitter & { transcript: Transcript; settings: Pick<AgentSettings, 'parallelTools'> }

/** A call that waits for an answer, with the calls after it, and the refusal of a submission before it. */
export type WaitingCalls = SuspendedCall & Pick<SuspendedLoop, 'calls' | 'refusal'>

/** The calls of one reply, or the rest of a turn that waited for an answer: its first call continues with the answer. */
export type TurnCalls = {
  calls: readonly RequestedCall[]
  from?: { loop: Pick<SuspendedLoop, 'refusal'>; answered: AnsweredCall } | undefined
}

type RanCall = SuspendedCall | { kind: 'done'; ran: RanTool }

/**
 * Runs the calls of a turn, with results in the model's order: consecutive calls to tools that only read run at the same
 * time, all others one by one. Calls after an accepted submission are not run; calls after one that waits for an answer run
 * after it. Returns the answer to the last submission, or the call that waits.
 */
export async function runCalls(
  run: CallRunner,
  loop: SubmissionCount,
  { calls, from }: TurnCalls,
  signal: AbortSignal,
): Promise<SubmissionAnswer | WaitingCalls | undefined> {
  let answer: SubmissionAnswer | undefined = from?.loop.refusal ?? undefined
  for (let at = 0; at < calls.length;) {
    const answered = at === 0 ? from?.answered : undefined
    const batch = answered === undefined ? batchAt(calls, at, run.tools) : calls.slice(0, 1)
    if (answer?.kind === 'accepted') {
      for (const call of batch) run.transcript.addToolText(call, 'Not run: the work was already submitted.')
    } else if (batch[0]?.name === submitToolName) {
      answer = await submit(run, loop, batch[0], signal)
    } else {
      const ended = await runTogether(run, { turn: loop.turn, calls: batch, answered }, signal)
      const waiting = ended.find(isWaiting)
      const rest = calls.slice(at + ended.findIndex(isWaiting))
      if (waiting !== undefined) return { ...waiting, calls: rest, refusal: refusalOf(answer) }
    }
    at += batch.length
  }
  return answer
}

function batchAt(calls: readonly RequestedCall[], at: number, tools: ToolSet): readonly RequestedCall[] {
  const onlyReads = ({ name }: RequestedCall) => name !== submitToolName && tools.get(name)?.effects === 'reads'
  let end = at
  while (end < calls.length && calls.slice(end, end + 1).every(onlyReads)) end++
  return calls.slice(at, Math.max(end, at + 1))
}

type Batch = { turn: number; calls: readonly RequestedCall[]; answered: AnsweredCall | undefined }

/** Adds the results to the transcript in the order of the calls, also those of calls that ended before another one threw. */
async function runTogether(run: CallRunner, { turn, calls, answered }: Batch, signal: AbortSignal): Promise<RanCall[]> {
  const [first] = calls
  const alone = first !== undefined && calls.length === 1
  const { ended, stopped } = alone
    ? { ended: [await runCall(run, { turn, call: first, answered }, signal)] }
    : await runAtOnce(run, { turn, calls }, signal)
  for (const outcome of ended) {
    if (isWaiting(outcome)) break
    const { call: made, ...ran } = outcome.ran
    const repeats = repeatsOf({ ...ran, ...made }, run.transcript.toolRuns, run.tools)
    run.transcript.addToolResult(outcome.ran, { note: repeats > 0 ? repeatNote : undefined })
  }
  stopped?.throwIfAborted()
  return ended
}

/** Runs at most `parallelTools` calls at a time. When one throws, the others are stopped and waited for, and `stopped` is aborted with that error. */
async function runAtOnce(
  run: CallRunner,
  { turn, calls }: Omit<Batch, 'answered'>,
  signal: AbortSignal,
): Promise<{ ended: RanCall[]; stopped?: AbortSignal }> {
  const gate = openSemaphore(run.settings.parallelTools)
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const running = calls.map(async (call) => {
    const leave = await gate.acquire(either)
    try {
      return await runCall(run, { turn, call }, either)
    } catch (error) {
      stop.abort(error)
      throw error
    } finally {
      leave()
    }
  })
  const settled = await Promise.allSettled(running)
  if (signal.aborted) stop.abort(signal.reason)
  return {
    ended: settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    stopped: stop.signal,
  }
}

function isWaiting(ended: RanCall): ended is SuspendedCall {
  return ended.kind === 'suspended'
}

function refusalOf(answer: SubmissionAnswer | undefined): SuspendedLoop['refusal'] {
  return answer === undefined || answer.kind === 'accepted' ? null : answer
}

async function runCall(
  { tools, journal }: ToolRunner,
  { turn, call, answered }: { turn: number; call: RequestedCall; answered?: AnsweredCall | undefined },
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
