import { isRecord, parseJson } from '#domain/json.ts'
import type { RequestedCall, ToolDefinition } from '#domain/turn.ts'
import { validateArguments } from '#tool-scripts/tool-arguments.ts'
import type { ExpectedCall } from './shapes.ts'

export type ReplyVerdict = {
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
