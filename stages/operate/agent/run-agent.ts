import type { ErrorCode } from '#domain/error.ts'
import type { Message, RequestedCall, Submission } from '#domain/turn.ts'
import type { LoopState, SuspendedLoop } from '#store/objects/attempt-record.ts'
import type { AnsweredCall, SuspendedCall, ToolSet } from '../tools/tool-set.ts'
import { askModel, type ModelAsker } from './ask-model.ts'
import { openHistory, type History } from './history.ts'
import { callsByCode } from './calls-by-code.ts'
import { turnWithCalls, turnWithoutCall } from './journal.ts'
import { leftOutNote } from './left-out-note.ts'
import { repeatedCall } from './repeated-call.ts'
import { readReply, type ReplyFault } from './read-reply.ts'
import { runCalls, type WaitingCalls } from './run-calls.ts'
import type { Submitter } from './submission.ts'

/** Says why the loop stopped: with an accepted submission, or with the code of what stopped it. */
export type Ending =
  | {
      kind: 'submitted'
      submission: Submission
      claimedUnchanged: readonly string[]
    }
  | { kind: 'stopped'; code: ErrorCode; phase: 'execution' | 'model' | 'tools' | 'submission'; reason: string }

/** A tool waits for an answer. `loop` is where another attempt continues. */
export type Suspension = SuspendedCall & { loop: SuspendedLoop }

export type AgentRun = ModelAsker & {
  tools: ToolSet
  verify?: Submitter['verify']
  /** Continues an earlier attempt that was handed back between two turns, or that stopped to wait for an answer. */
  from?: { loop: LoopState } | AnsweredLoop | undefined
  /** Is called before each request: from here another attempt can continue, as long as nothing is added to the transcript. */
  atTurn?(loop: LoopState): void
}

type AnsweredLoop = { loop: SuspendedLoop; answered: AnsweredCall }
type Loop = LoopState & { history: History }
type Next = { calls: readonly RequestedCall[]; fault?: ReplyFault | undefined; from?: AnsweredLoop }

/** Limits how often a submission off its schema is explained to the model before the attempt ends with AGENT_005. */
const maxRefusedSubmissions = 2

/**
 * The agent's loop: sends the conversation to the model and runs the tools it calls, until a submission is accepted, a tool
 * waits for an answer, or a limit is reached. The last turn may only submit; if it does not, its fault is the ending. The turn
 * after a call that was made too often with the same answer is the last one. Throws the reason of an aborted `signal`, and
 * the errors of the model pool (AGENT_002, AGENT_007, AGENT_008).
 */
export async function runAgent(run: AgentRun, signal: AbortSignal): Promise<Ending | Suspension> {
  const { transcript, settings, journal } = run
  const loop = await openLoop(run, signal)
  const allowed = { refused: maxRefusedSubmissions, unverified: settings.verifyAttempts, overstated: 1 }
  const { from: begun } = run
  let next: Next | undefined = begun && 'answered' in begun ? { calls: begun.loop.calls, from: begun } : undefined
  let lastFault: Ending | undefined

  for (; loop.turn <= settings.maxTurns; loop.turn++, next = undefined) {
    const { calls, fault, from }: Next = next ?? (await nextCalls(run, loop, signal))
    if (fault !== undefined) {
      lastFault = { kind: 'stopped', phase: 'model', code: fault.code, reason: fault.reason }
      journal.emit(turnWithoutCall(loop.turn, fault))
      if (loop.corrected) return lastFault
      loop.corrected = true
      transcript.addUser(fault.correction)
      continue
    }

    const answer = await runCalls(run, loop, { calls, from }, signal)
    if (answer?.kind === 'suspended') return suspension(loop, answer)
    const repeated = repeatedCall(transcript.toolRuns, loop.turn, run.tools)
    journal.emit(turnWithCalls(loop.turn, calls.length, repeated?.name))
    if (answer?.kind === 'accepted') return { ...answer, kind: 'submitted' }

    lastFault = repeated && repeatedFault(loop.turn, repeated)
    if (repeated !== undefined) loop.turn = Math.max(loop.turn, settings.maxTurns - 1)
    if (answer === undefined) continue
    lastFault = { kind: 'stopped', phase: 'submission', code: answer.code, reason: answer.reason }
    if (++loop[`${answer.kind}Submissions`] > allowed[answer.kind]) return lastFault
  }
  const turns = settings.maxTurns - (settings.gather.length === 0 ? 0 : 1)
  const reason = `no submission within ${turns} turns`
  return lastFault ?? { kind: 'stopped', code: 'AGENT_004', phase: 'model', reason }
}

function repeatedFault(turn: number, { name, repeats }: NonNullable<ReturnType<typeof repeatedCall>>): Ending {
  const reason = `no submission: until turn ${turn} the same call of ${name} had brought the same answer ${repeats + 1} times`
  return { kind: 'stopped', code: 'AGENT_004', phase: 'model', reason }
}

async function openLoop({ transcript, tools, model, settings, from }: AgentRun, signal: AbortSignal): Promise<Loop> {
  const { maxMessages, maxTokens } = settings
  const known = await model.contextTokens?.(settings.model, signal)
  const maxContextTokens = Math.min(settings.maxContextTokens, (known ?? Infinity) - maxTokens)
  const note = (leftOut: readonly Message[]) => leftOutNote(transcript, leftOut)
  const history = openHistory(transcript.messages, { maxMessages, maxContextTokens, tools: tools.definitions, note })
  const { turn, corrected, refusedSubmissions, unverifiedSubmissions, overstatedSubmissions } = from?.loop ?? beginning
  return { turn, corrected, refusedSubmissions, unverifiedSubmissions, overstatedSubmissions, history }
}

const beginning = {
  turn: 1,
  corrected: false,
  refusedSubmissions: 0,
  unverifiedSubmissions: 0,
  overstatedSubmissions: 0,
}

async function nextCalls(run: AgentRun, loop: Loop, signal: AbortSignal): Promise<Next> {
  const { history: _, ...state } = loop
  run.atTurn?.(state)
  const calls = callsByCode(run)
  if (calls.length > 0) {
    run.transcript.addCalls(calls)
    return { calls }
  }
  const { reply, fault } = readReply(await askModel(run, loop, signal), run.transcript.messages, run.settings)
  run.transcript.addReply(reply)
  return { calls: reply.toolCalls, fault }
}

function suspension({ history: _, ...loop }: Loop, { calls, refusal, ...call }: WaitingCalls): Suspension {
  return { ...call, loop: { ...loop, calls, refusal } }
}
