import { AppError } from '#domain/error.ts'
import { isDeeperThan } from '#domain/json.ts'
import type { AskedQuestion } from '#domain/question.ts'
import type { RequestedCall, ToolDefinition, ToolResult } from '#domain/turn.ts'
import { readWrittenJson } from '#domain/written-json.ts'
import type { ToolRun, WaitingScript } from '#store/objects/attempt-record.ts'
import { validateArguments } from '#tool-scripts/tool-arguments.ts'

export type ExecutedCall = DoneCall | SuspendedCall
export type DoneCall = { kind: 'done'; result: ToolResult } & Pick<ToolRun, 'externals' | 'printed' | 'scriptMs'>
export type SuspendedCall = { kind: 'suspended'; question: AskedQuestion; waiting: WaitingScript }

export type AnsweredScript = { waiting: WaitingScript; answer: string }

export type Tool = {
  definition: ToolDefinition
  /** Tools that only read may run at the same time; one that writes, or asks a person, runs alone. */
  effects: 'reads' | 'writes'
  /** `args` fit the definition's schema. An exception is our own fault or the signal's reason, and ends the attempt. */
  run(args: Record<string, unknown>, signal: AbortSignal): Promise<ExecutedCall>
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

/** A mistake of the model, or a failure of the tool, is a result that the model can read, not an exception. */
export async function executeToolCall(call: RequestedCall, tools: ToolSet, signal: AbortSignal): Promise<ExecutedCall> {
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
  return tool.run(args.args, signal)
}

/** Resumes a call of an earlier attempt. ASK_004 when its tool no longer exists. */
export async function resumeToolCall(
  call: RequestedCall,
  answered: AnsweredScript,
  tools: ToolSet,
  signal: AbortSignal,
): Promise<ExecutedCall> {
  const tool = tools.get(call.name)
  if (tool === undefined) throw new AppError('ASK_004', `the tool ${call.name}, which asked, no longer exists`)
  return tool.resume(answered, signal)
}

/** The result of a call that was not executed, with the reason. */
export function refused(errorCode: string, error: string): DoneCall {
  const result = { outcome: 'error', result: null, summary: error, knowledgeDelta: {}, error, errorCode } as const
  return { kind: 'done', result, externals: [] }
}
