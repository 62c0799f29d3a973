import { AppError } from '#domain/error.ts'
import type { RequestedCall } from '#domain/turn.ts'
import type { Exchange } from '#objects/attempt-record.ts'
import { msSince } from '#platform/clock.ts'
import { journalOver, type AgentEvent } from '../../services/worker/agent/journal.ts'
import { runAgent, type Ending } from '../../services/worker/agent/run-agent.ts'
import { toolGuide, withToolGuide } from '../../services/worker/agent/tool-guide.ts'
import { firstMessages, openTranscript, type Transcript } from '../../services/worker/agent/transcript.ts'
import { judgeReply, type ReplyVerdict } from './judge-reply.ts'
import type { Probe } from './plan-probes.ts'
import { probeTools } from './probe-tools.ts'
import type { Side } from './side.ts'

export type Verdict = ReplyVerdict & {
  /** The agent ended with a valid submission, whatever its status. */
  submitted: boolean
}

export type ProbeFault = { code: string; message: string }

export type ProbeResult = {
  probe: Probe
  verdict: Verdict
  /** What the first reply said; undefined when there was none. */
  said: { content: string | null; calls: readonly RequestedCall[] } | undefined
  exchanges: readonly Exchange[]
  agentMs: number
  /** The model's name as its server says it; empty without a reply. */
  answeredBy: string
  /** Calls and submissions that were refused, then what ended the agent, if anything but a submission did. */
  faults: readonly ProbeFault[]
}

/** A call, what to do with its answer, one mistake, and an end; far from any other limit. */
const limits = { maxTurns: 4, maxMessages: 100, maxContextTokens: 32_000, parallelTools: 1, verifyAttempts: 0 }

/**
 * One agent of the suite on one side, from the request to its end. What the model or its server gets wrong is a result;
 * only the signal's reason and what is no AppError are thrown.
 */
export async function runProbe(
  probe: Probe,
  side: Side,
  systemPrompt: string,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const { model, settings, pool } = side
  const { toolGuide: isGuided, stream: _, ...asked } = settings
  const tools = probeTools(probe.tools)
  const system = isGuided ? withToolGuide(systemPrompt, toolGuide(tools.definitions)) : systemPrompt
  const transcript = openTranscript({ messages: firstMessages(system, probe.prompt) })
  const faults: ProbeFault[] = []
  const journal = journalOver((event) => void faults.push(...refusalIn(event)))
  const start = performance.now()
  const run = { transcript, tools, model: pool, settings: { ...asked, ...limits, model }, journal }
  const ending = await runAgent(run, signal).catch((error: unknown) => failureOf(error, signal))
  const agentMs = msSince(start)
  if (ending.kind === 'stopped') faults.push({ code: ending.code, message: ending.reason })
  const said = firstReply(transcript)
  const verdict = judgeReply(said?.calls ?? [], probe.expected, tools.definitions)
  return {
    probe,
    verdict: { ...verdict, submitted: ending.kind === 'submitted' },
    said,
    exchanges: transcript.exchanges,
    agentMs,
    answeredBy: transcript.model,
    faults,
  }
}

function firstReply({ messages }: Transcript): ProbeResult['said'] {
  for (const message of messages) {
    if (message.role === 'assistant') return { content: message.content, calls: message.toolCalls }
  }
  return undefined
}

/** A call or a submission that the loop refused, which the model was told. */
function refusalIn({ event, errorCode: code, data }: AgentEvent): ProbeFault[] {
  if (code === undefined) return []
  if (event === 'tool.returned') return [{ code, message: String(data['summary']) }]
  if (event === 'submission.received') return [{ code, message: `submission refused: ${String(data['refused'])}` }]
  return []
}

type Failure = Extract<Ending, { kind: 'stopped' }>

/** The model's servers failed the agent, which is a result of theirs. */
function failureOf(error: unknown, signal: AbortSignal): Failure {
  signal.throwIfAborted()
  if (!(error instanceof AppError)) throw error
  return { kind: 'stopped', code: error.code, phase: 'model', reason: error.message }
}
