import { AppError } from '#domain/error.ts'
import { isDeeperThan, parseJson } from '#domain/json.ts'
import type { AskedQuestion } from '#domain/question.ts'
import type { RequestedCall, ToolDefinition, ToolResult } from '#domain/turn.ts'
import type { ToolRun } from '#objects/attempt-record.ts'
import type { WaitingScript } from '#objects/suspended-attempt.ts'
import { validateArguments } from '#tool-scripts/tool-arguments.ts'

/** A call that was carried out, or one that waits for a person. */
export type ExecutedCall = DoneCall | SuspendedCall
export type DoneCall = { kind: 'done'; result: ToolResult } & Pick<ToolRun, 'externals' | 'printed' | 'scriptMs'>
export type SuspendedCall = { kind: 'suspended'; question: AskedQuestion; waiting: WaitingScript }

/** A script that waited, and what it was answered. */
export type AnsweredScript = { waiting: WaitingScript; answer: string }

export type Tool = {
  definition: ToolDefinition
  /** What only `reads` may run beside others that do; what `writes`, or asks a person, runs alone. */
  effects: 'reads' | 'writes'
  /** `args` have passed the definition's schema. A throw is ours, or the signal's, and ends the attempt. */
  run(args: Record<string, unknown>, signal: AbortSignal): Promise<ExecutedCall>
  /** Goes on with a call that waited. ASK_004 when its script, or what it does, is another by now. */
  resume(answered: AnsweredScript, signal: AbortSignal): Promise<ExecutedCall>
}

/** The tools of one attempt. `definitions` is one array for the bundle's life: what is derived from it is cached. */
export type ToolSet = {
  definitions: readonly ToolDefinition[]
  get(name: string): Tool | undefined
}

/** What a script is given has to be written down for it by programs that recurse. */
const maxDepth = 64

/** Runs one call. What the model got wrong, or the tool could not do, is a result it can read; never an exception. */
export async function executeToolCall(call: RequestedCall, tools: ToolSet, signal: AbortSignal): Promise<ExecutedCall> {
  const tool = tools.get(call.name)
  if (tool === undefined) {
    const known = tools.definitions.map((definition) => definition.name).join(', ')
    return refused('TOOL_001', `There is no tool named "${call.name}". The tools are: ${known}.`)
  }
  const given = call.arguments.trim() === '' ? {} : parseJson(call.arguments)
  if (given === undefined) return refused('AGENT_009', 'The arguments are not valid JSON; the tool was not run.')
  const args = validateArguments(tool.definition.parameters, given)
  if (!args.ok) return refused('TOOL_002', args.faults.join('; '))
  if (isDeeperThan(args.args, maxDepth)) return refused('TOOL_002', `arguments: nested deeper than ${maxDepth} levels`)
  return tool.run(args.args, signal)
}

/** Goes on with a call of an earlier attempt. ASK_004 when its tool is gone. */
export async function resumeToolCall(
  call: RequestedCall,
  answered: AnsweredScript,
  tools: ToolSet,
  signal: AbortSignal,
): Promise<ExecutedCall> {
  const tool = tools.get(call.name)
  if (tool === undefined) throw new AppError('ASK_004', `the tool ${call.name}, which asked, is gone`)
  return tool.resume(answered, signal)
}

/** A result that says the call was not carried out, and why. */
export function refused(errorCode: string, error: string): DoneCall {
  return {
    kind: 'done',
    result: { outcome: 'error', result: null, summary: error, knowledgeDelta: {}, error, errorCode },
    externals: [],
  }
}
