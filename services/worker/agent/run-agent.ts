import type { ErrorCode } from '#domain/error.ts'
import type { ModelReply, ModelRequest, RequestedCall, Submission } from '#domain/turn.ts'
import { submitToolName } from '#bundles/submit-tool.ts'
import type { SuspendedLoop } from '#objects/suspended-attempt.ts'
import { msSince } from '#platform/clock.ts'
import { askModel, type AgentSettings } from './ask-model.ts'
import type { Journal } from './journal.ts'
import { submissionOf, type SubmissionAnswer } from './submission.ts'
import type { Transcript } from './transcript.ts'
import { shortKnowledge } from '../context/short-knowledge.ts'
import {
  executeToolCall,
  resumeToolCall,
  type AnsweredScript,
  type SuspendedCall,
  type ToolSet,
} from '../tools/tool-set.ts'

/** Why the loop stopped. Only a valid submission is an answer; a stop carries its code. */
export type Ending =
  | { kind: 'submitted'; submission: Submission }
  | { kind: 'stopped'; code: ErrorCode; phase: 'execution' | 'model' | 'tools' | 'submission'; reason: string }
/** A tool waits for a person: where the loop goes on from. */
export type Suspension = Omit<SuspendedCall, 'kind'> & { kind: 'suspended'; loop: SuspendedLoop }

export type AgentRun = {
  transcript: Transcript
  tools: ToolSet
  model: { complete(request: ModelRequest, signal: AbortSignal): Promise<ModelReply> }
  settings: AgentSettings
  journal: Journal
  /** Where an earlier attempt stopped to ask, and what it was answered. */
  from?: { loop: SuspendedLoop; answered: AnsweredScript } | undefined
}

type Loop = { turn: number; corrected: boolean; refusedSubmissions: number }

const correction =
  'You answered without a tool call. Call one of the tools; when the work is finished, call submit_result.'

/** A submission that fails validation is explained to the model this often before the attempt ends with AGENT_005. */
const maxRefusedSubmissions = 2

/**
 * The loop: ask the model with the whole conversation, run the tools it calls, until it submits, a tool waits for a
 * person, or a limit ends it. The last turn may only submit; what it brings instead is the code of the ending. Throws what
 * aborts `signal`, and what the model pool throws (AGENT_002, AGENT_008).
 */
export async function runAgent(run: AgentRun, signal: AbortSignal): Promise<Ending | Suspension> {
  const { transcript, settings } = run
  const loop: Loop = { turn: 1, corrected: false, refusedSubmissions: 0, ...run.from?.loop }
  let waiting = run.from
  let lastFault: Ending | undefined

  for (; loop.turn <= settings.maxTurns; loop.turn++) {
    const calls = waiting?.loop.calls ?? (await nextCalls(run, loop.turn, signal))
    if (calls.length === 0) {
      lastFault = stopped('AGENT_003', 'model', 'the model answered without calling a tool')
      if (loop.corrected) return lastFault
      loop.corrected = true
      transcript.addUser(correction)
      continue
    }
    const answer = await runCalls(run, loop, { calls, from: waiting }, signal)
    waiting = undefined
    if (answer?.kind === 'suspended') return answer
    run.journal.emit({ event: 'turn.finished', phase: 'execution', data: { turn: loop.turn, calls: calls.length } })
    if (answer?.kind === 'valid') return { kind: 'submitted', submission: answer.submission }
    lastFault = answer === undefined ? undefined : stopped('AGENT_005', 'submission', answer.reason)
    if (lastFault !== undefined && ++loop.refusedSubmissions > maxRefusedSubmissions) return lastFault
  }
  return lastFault ?? stopped('AGENT_004', 'model', `no submission within ${settings.maxTurns} turns`)
}

async function nextCalls(run: AgentRun, turn: number, signal: AbortSignal): Promise<readonly RequestedCall[]> {
  const reply = await askModel(run, turn, signal)
  run.transcript.addReply(reply)
  return reply.toolCalls
}

type TurnCalls = { calls: readonly RequestedCall[]; from: AgentRun['from'] }

/**
 * Runs the calls in the model's order; what follows a valid submission is not run, what follows a call that waits for a
 * person is run after the answer. Answers the last submission, or where to go on.
 */
async function runCalls(
  run: AgentRun,
  loop: Loop,
  { calls, from }: TurnCalls,
  signal: AbortSignal,
): Promise<SubmissionAnswer | Suspension | undefined> {
  const refusal = from?.loop.refusal ?? null
  let answer: SubmissionAnswer | undefined = refusal === null ? undefined : { kind: 'refused', ...refusal }
  for (const [index, call] of calls.entries()) {
    if (answer?.kind === 'valid') {
      run.transcript.addToolText(call, 'Not run: the work was already submitted.')
    } else if (call.name === submitToolName) {
      answer = submit(run, loop.turn, call)
    } else {
      const answered = index === 0 ? from?.answered : undefined
      const suspended = await runTool(run, loop.turn, { call, answered }, signal)
      if (suspended !== undefined) return { ...suspended, loop: restOf(loop, calls.slice(index), answer) }
    }
  }
  return answer
}

function submit(run: AgentRun, turn: number, call: RequestedCall): SubmissionAnswer {
  const answer = submissionOf(call)
  run.transcript.addToolText(call, answer.kind === 'valid' ? 'Submitted.' : `Submission refused: ${answer.reason}`)
  if (answer.kind === 'valid') {
    const { status, summary } = answer.submission
    run.journal.emit({ event: 'submission.received', phase: 'submission', data: { turn, status, summary } })
  } else {
    const data = { turn, refused: answer.reason }
    run.journal.emit({
      event: 'submission.received',
      phase: 'submission',
      status: 'error',
      errorCode: answer.code,
      data,
    })
  }
  return answer
}

function restOf(loop: Loop, calls: RequestedCall[], answer: SubmissionAnswer | undefined): SuspendedLoop {
  const { turn, corrected, refusedSubmissions } = loop
  const refusal = answer?.kind === 'refused' ? { code: answer.code, reason: answer.reason } : null
  return { turn, corrected, refusedSubmissions, calls, refusal }
}

/** Undefined once the call has its result in the transcript. */
async function runTool(
  { journal, transcript, tools }: AgentRun,
  turn: number,
  { call, answered }: { call: RequestedCall; answered: AnsweredScript | undefined },
  signal: AbortSignal,
): Promise<SuspendedCall | undefined> {
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
  const { kind: _, ...done } = executed
  const { result } = done
  const durationMs = msSince(start)
  transcript.addToolResult({ turn, call, ...done, durationMs })
  const failed = result.outcome === 'error'
  journal.emit({
    event: 'tool.returned',
    phase: 'tools',
    toolName: call.name,
    durationMs,
    status: failed ? 'error' : 'ok',
    ...(result.errorCode === undefined ? {} : { errorCode: result.errorCode }),
    data: {
      turn,
      call_id: call.id,
      outcome: result.outcome,
      summary: result.summary.slice(0, 1000),
      ...(Object.keys(result.knowledgeDelta).length === 0 ? {} : { knowledge: shortKnowledge(result.knowledgeDelta) }),
    },
  })
  return undefined
}

function stopped(code: ErrorCode, phase: 'model' | 'tools' | 'submission', reason: string): Ending {
  return { kind: 'stopped', code, phase, reason }
}
