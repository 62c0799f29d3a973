import type { RequestedCall } from '#domain/turn.ts'
import { submitToolName } from '#bundles/submit-tool.ts'
import type { SuspendedLoop } from '#objects/suspended-attempt.ts'
import { openInFlightGate } from '#platform/in-flight-gate.ts'
import type { AnsweredScript, SuspendedCall, ToolSet } from '../tools/tool-set.ts'
import type { AgentSettings } from './agent-settings.ts'
import { runCall, type RanCall, type ToolRunner } from './run-call.ts'
import type { SubmissionAnswer } from './submission-answer.ts'
import { submit, type SubmissionCount, type Submitter } from './submit.ts'
import type { Transcript } from './transcript.ts'

export type CallRunner = ToolRunner &
  Submitter & { transcript: Transcript; settings: Pick<AgentSettings, 'parallelTools'> }

/** A call that waits for a person, with the calls that wait behind it, and what was submitted before it. */
export type WaitingCalls = SuspendedCall & Pick<SuspendedLoop, 'calls' | 'refusal'>

/** The calls of one reply, or those of a turn that waited, whose first was `answered`. */
export type TurnCalls = {
  calls: readonly RequestedCall[]
  from?: { loop: Pick<SuspendedLoop, 'refusal'>; answered: AnsweredScript } | undefined
}

/**
 * Runs the calls of a turn, with results in the model's order: consecutive ones of tools that only read at once, all others
 * one by one. What follows a submission that ends the work is not run, what follows a call that waits for a person runs
 * after the answer. Answers the last submission, or where to go on.
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

/** The call at `at`, with those after it that may run beside it. */
function batchAt(calls: readonly RequestedCall[], at: number, tools: ToolSet): readonly RequestedCall[] {
  const onlyReads = ({ name }: RequestedCall) => name !== submitToolName && tools.get(name)?.effects === 'reads'
  let end = at
  while (end < calls.length && calls.slice(end, end + 1).every(onlyReads)) end++
  return calls.slice(at, Math.max(end, at + 1))
}

type Batch = { turn: number; calls: readonly RequestedCall[]; answered: AnsweredScript | undefined }

/** Results are in the transcript in the order of the calls; also those that ended before another's throw. */
async function runTogether(run: CallRunner, { turn, calls, answered }: Batch, signal: AbortSignal): Promise<RanCall[]> {
  const [first] = calls
  const alone = first !== undefined && calls.length === 1
  const { ended, stopped } = alone
    ? { ended: [await runCall(run, { turn, call: first, answered }, signal)] }
    : await runAtOnce(run, { turn, calls }, signal)
  for (const one of ended) {
    if (isWaiting(one)) break
    run.transcript.addToolResult(one.ran)
  }
  stopped?.throwIfAborted()
  return ended
}

/**
 * At most `parallelTools` at a time. A throw is ours or the signal's: it stops the others, which are waited for, and is the
 * reason of `stopped`.
 */
async function runAtOnce(
  run: CallRunner,
  { turn, calls }: Omit<Batch, 'answered'>,
  signal: AbortSignal,
): Promise<{ ended: RanCall[]; stopped?: AbortSignal }> {
  const gate = openInFlightGate(run.settings.parallelTools)
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const running = calls.map(async (call) => {
    const leave = await gate.enter(either)
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
  return { ended: settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])), stopped: stop.signal }
}

function isWaiting(ended: RanCall): ended is SuspendedCall {
  return ended.kind === 'suspended'
}

function refusalOf(answer: SubmissionAnswer | undefined): SuspendedLoop['refusal'] {
  return answer === undefined || answer.kind === 'accepted' ? null : answer
}
