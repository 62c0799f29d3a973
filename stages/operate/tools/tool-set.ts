import { AppError } from '#domain/error.ts'
import { isDeeperThan } from '#domain/json.ts'
import type { ApprovalAnswer } from '#domain/question.ts'
import type { RequestedCall, ToolDefinition, ToolResult } from '#domain/turn.ts'
import { readWrittenJson } from '#domain/written-json.ts'
import type { ToolRun, WaitingScript } from '#store/objects/attempt-record.ts'
import type { AwaitedEntry } from '#tool-scripts/script-ending.ts'
import { validateArguments } from '#tool-scripts/tool-arguments.ts'

export type ExecutedCall = DoneCall | SuspendedCall
export type DoneCall = { kind: 'done'; result: ToolResult } & Pick<ToolRun, 'externals' | 'printed' | 'scriptMs'>
/** `waiting`: the script that waits; null for a call that waits for approval and has done nothing yet. */
export type SuspendedCall = AwaitedEntry & { kind: 'suspended'; waiting: WaitingScript | null }

/** `answer` is a person's; null after a call that took long: the journal has its answer, or it is made once more. */
export type AnsweredScript = { waiting: WaitingScript; answer: string | null }
export type AnsweredCall = AnsweredScript | { waiting: null; answer: ApprovalAnswer }

export type Tool = {
  definition: ToolDefinition
  /** Tools that only read may run at the same time; one that writes, or may wait for an answer, runs alone. */
  effects: 'reads' | 'writes'
  /** `args` fit the definition's schema. An exception is our own fault or the signal's reason, and ends the attempt. */
  run(args: Record<string, unknown>, signal: AbortSignal): Promise<ExecutedCall>
  /** Is there for a tool whose calls a person must approve: whether one has for the whole run. */
  isAllowed?(): Promise<boolean>
  /** Resumes a call that waited. ASK_004 when its script, or what that does, has changed. */
  resume(answered: AnsweredScript, signal: AbortSignal): Promise<ExecutedCall>
}

/** `definitions` stays the same array for the life of the bundle, since derived values are cached. */
export type ToolSet = {
  definitions: readonly ToolDefinition[]
  get(name: string): Tool | undefined
}

/** Deeper arguments could not be serialised, which takes recursion. */
const maxDepth = 64

/**
 * Runs a call, or suspends it when a person must approve it first. A mistake of the model, or a failure of the tool, is a result that the
 * model can read, not an exception.
 */
export async function executeToolCall(call: RequestedCall, tools: ToolSet, signal: AbortSignal): Promise<ExecutedCall> {
  const read = readCall(call, tools)
  if ('kind' in read) return read
  const { tool, args } = read
  if (tool.isAllowed === undefined || (await tool.isAllowed())) return tool.run(args, signal)
  const asked = { tool: call.name, arguments: JSON.stringify(args) }
  const question = { text: `May ${call.name} be called?`, choices: null, call: asked }
  return { kind: 'suspended', question, waiting: null }
}

function readCall(call: RequestedCall, tools: ToolSet): DoneCall | { tool: Tool; args: Record<string, unknown> } {
  const tool = tools.get(call.name)
  if (tool === undefined) {
    const known = tools.definitions.map((definition) => definition.name).join(', ')
    return refused('TOOL_001', `There is no tool named "${call.name}". The tools are: ${known}.`)
  }
  const given = call.arguments.trim() === '' ? { value: {} } : readWrittenJson(call.arguments)
  if ('fault' in given)
    return refused('AGENT_009', `The arguments are not valid JSON: ${given.fault}. The tool was not run.`)
  const args = validateArguments(tool.definition.parameters, given.value)
  if (!args.ok) return refused('TOOL_002', args.faults.join('; '))
  if (isDeeperThan(args.args, maxDepth)) return refused('TOOL_002', `arguments: nested deeper than ${maxDepth} levels`)
  return { tool, args: args.args }
}

/** Resumes a call of an earlier attempt, with the answer that it waited for. ASK_004 when its tool no longer exists. */
export async function resumeToolCall(
  call: RequestedCall,
  answered: AnsweredCall,
  tools: ToolSet,
  signal: AbortSignal,
): Promise<ExecutedCall> {
  const tool = tools.get(call.name)
  if (tool === undefined) throw new AppError('ASK_004', `the tool ${call.name}, which asked, no longer exists`)
  if (answered.waiting !== null) return tool.resume(answered, signal)
  const { verdict, reason = 'no reason was given' } = answered.answer
  if (verdict === 'deny') return refused('TOOL_008', `A person has denied this call, so it was not made: ${reason}`)
  const read = readCall(call, tools)
  return 'kind' in read ? read : tool.run(read.args, signal)
}

/** The result of a call that was not executed, with the reason. */
export function refused(errorCode: string, error: string): DoneCall {
  const result = { outcome: 'error', result: null, summary: error, knowledgeDelta: {}, error, errorCode } as const
  return { kind: 'done', result, externals: [] }
}
