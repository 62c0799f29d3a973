import { AppError } from '#domain/error.ts'
import type { RequestedCall, ToolDefinition } from '#domain/turn.ts'
import type { Exchange } from '#store/objects/attempt-record.ts'
import { msSince } from '#platform/clock.ts'
import { submitTool } from '#bundles/tool-definition.ts'
import { type AgentEvent, journalOver } from '#stages/operate/agent/journal.ts'
import { type Ending, runAgent } from '#stages/operate/agent/run-agent.ts'
import { toolGuide, withToolGuide } from '#stages/operate/agent/prepared-bundle.ts'
import { firstMessages, openTranscript, type Transcript } from '#stages/operate/agent/open-transcript.ts'
import type { Probe } from './plan-probes.ts'
import type { Side } from './side.ts'
import type { ToolSet } from '#stages/operate/tools/tool-set.ts'
import { isRecord, parseJson } from '#domain/json.ts'
import { validateArguments } from '#tool-scripts/tool-arguments.ts'
import type { ExpectedCall } from './shapes.ts'

export type Verdict = ReplyVerdict & {
  submitted: boolean
}

export type ProbeFault = { code: string; message: string }

export type ProbeResult = {
  probe: Probe
  verdict: Verdict
  firstReply: { content: string | null; calls: readonly RequestedCall[] } | undefined
  exchanges: readonly Exchange[]
  agentMs: number
  /** The model's name as its server reports it; empty without a reply. */
  answeredBy: string
  /** Refused calls and submissions, then what ended the agent, unless that was a submission. */
  faults: readonly ProbeFault[]
}

/** Turns for a call, a reaction to its result, one mistake, and the submission; the other limits are never reached. */
const limits = {
  maxTurns: 4,
  gather: [],
  submitting: [],
  maxMessages: 100,
  maxContextTokens: 32_000,
  parallelTools: 1,
  verifyAttempts: 0,
}

/** Runs one agent to its end. Mistakes of the model or its server are results; only the signal's reason and bugs are thrown. */
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
  const reply = firstReplyOf(transcript)
  const verdict = judgeReply(reply?.calls ?? [], probe.expected, tools.definitions)
  return {
    probe,
    verdict: { ...verdict, submitted: ending.kind === 'submitted' },
    firstReply: reply,
    exchanges: transcript.exchanges,
    agentMs,
    answeredBy: transcript.model,
    faults,
  }
}

function firstReplyOf({ messages }: Transcript): ProbeResult['firstReply'] {
  for (const message of messages) {
    if (message.role === 'assistant') return { content: message.content, calls: message.toolCalls }
  }
  return undefined
}

function refusalIn({ event, errorCode: code, data }: AgentEvent): ProbeFault[] {
  if (code === undefined) return []
  if (event === 'tool.returned') return [{ code, message: data.summary }]
  if (event === 'submission.received') return [{ code, message: `submission refused: ${String(data['refused'])}` }]
  return []
}

type Failure = Extract<Ending, { kind: 'stopped' }>

/** The model's servers failed the agent, which counts as a result. */
function failureOf(error: unknown, signal: AbortSignal): Failure {
  signal.throwIfAborted()
  if (!(error instanceof AppError)) throw error
  return { kind: 'stopped', code: error.code, phase: 'model', reason: error.message }
}

/** Returns tools that do nothing and report success, so that only the model decides what an agent does. */
function probeTools(definitions: readonly ToolDefinition[]): ToolSet {
  const tools = new Map(definitions.map((definition) => [definition.name, doneTool(definition)]))
  return { definitions: [...definitions, submitTool], get: (name) => tools.get(name) }
}

function doneTool(definition: ToolDefinition) {
  const success = { outcome: 'success' as const, result: { done: true }, knowledgeDelta: {} }
  const result = { ...success, summary: `${definition.name}: done` }
  const done = async () => ({ kind: 'done' as const, result, externals: [] })
  return { definition, effects: 'reads' as const, run: done, resume: done }
}

type ReplyVerdict = {
  called: boolean
  parsedFromContent: boolean
  rightTool: boolean
  /** Is true when the arguments of the right tool pass its schema and have the values of the request. */
  rightArguments: boolean
}

/** Judges the first reply of an agent. Of several calls the first counts. */
export function judgeReply(
  calls: readonly RequestedCall[],
  expected: ExpectedCall,
  offered: readonly ToolDefinition[],
): ReplyVerdict {
  const [first] = calls
  const rightTool = first?.name === expected.tool
  const schema = offered.find(({ name }) => name === expected.tool)?.parameters ?? {}
  const checked = rightTool ? validateArguments(schema, parseJson(first.arguments)) : undefined
  return {
    called: first !== undefined,
    parsedFromContent: first?.parsedFromContent === true,
    rightTool,
    rightArguments: checked?.ok === true && isMatch(expected.arguments, checked.args),
  }
}

/** Compares texts without the blanks around them, numbers by value, lists in order, and objects by the expected keys. */
export function isMatch(expected: unknown, given: unknown): boolean {
  if (typeof expected === 'string') return typeof given === 'string' && given.trim() === expected
  if (Array.isArray(expected)) {
    return (
      Array.isArray(given) &&
      given.length === expected.length &&
      expected.every((item, index) => isMatch(item, given[index]))
    )
  }
  if (!isRecord(expected)) return expected === given
  return isRecord(given) && Object.entries(expected).every(([key, value]) => isMatch(value, given[key]))
}
