import { isDeepStrictEqual } from 'node:util'
import { parseJson } from '#domain/json.ts'
import { submitToolName } from '#bundles/tool-definition.ts'
import type { ToolRun } from '#store/objects/attempt-record.ts'
import type { ToolSet } from '../tools/tool-set.ts'

type MadeCall = Pick<ToolRun, 'turn' | 'name' | 'arguments' | 'result'>

const maxRepeats = 2

export const repeatNote =
  'You have made this call already, and its answer is the same. Making it again will not help: do something else, or call submit_result.'

/** Counts the earlier turns with the same call and answer, since its answer was another or a call wrote something. It goes by the record alone. */
export function repeatsOf(call: MadeCall, earlier: readonly MadeCall[], tools: Pick<ToolSet, 'get'>): number {
  if (call.name === submitToolName) return 0
  const turns = new Set<number>()
  for (const made of earlier.toReversed()) {
    if (isSameCall(made, call)) {
      if (!isDeepStrictEqual(made.result, call.result)) break
      if (made.turn !== call.turn) turns.add(made.turn)
    } else if (made.result.outcome !== 'error' && tools.get(made.name)?.effects === 'writes') break
  }
  return turns.size
}

/** The call of this turn that was made too often, if there is one. */
export function repeatedCall(
  runs: readonly MadeCall[],
  turn: number,
  tools: Pick<ToolSet, 'get'>,
): { name: string; repeats: number } | undefined {
  for (const [at, { name, ...made }] of runs.entries()) {
    const repeats = made.turn === turn ? repeatsOf({ name, ...made }, runs.slice(0, at), tools) : 0
    if (repeats >= maxRepeats) return { name, repeats }
  }
  return undefined
}

function isSameCall(left: MadeCall, right: MadeCall): boolean {
  if (left.name !== right.name) return false
  return left.arguments === right.arguments || isDeepStrictEqual(argumentsOf(left), argumentsOf(right))
}

function argumentsOf({ arguments: given }: MadeCall): unknown {
  return parseJson(given) ?? given
}
