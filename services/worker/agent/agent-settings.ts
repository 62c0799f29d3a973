import type { ModelRequest } from '#domain/turn.ts'
import type { BundleFile } from '#domain/agent-bundle.ts'
import type { HistoryLimits } from './history.ts'

/** What the loop asks the model for, and its limits. */
export type AgentSettings = HistoryLimits &
  Pick<ModelRequest, 'model' | 'temperature' | 'maxTokens' | 'parallelCalls' | 'constraint' | 'prefixKey'> & {
    /** For every turn except the last, which must submit. */
    toolChoice: 'required' | 'auto'
    maxTurns: number
    /** The model answers once, with a call of `carryOut`; code calls the tools of `gather` before it, and submits. */
    oneTurn?: { gather: readonly string[]; carryOut: string } | undefined
    /** How many calls of one reply, to tools that only read, may run at the same time. */
    parallelTools: number
    /** How often a submission that fails its verification is given back. */
    verifyAttempts: number
  }

/** The part that the worker's configuration decides. */
export type ModelSettings = Pick<AgentSettings, 'model' | 'temperature' | 'toolChoice'>

/** The settings of one bundle. Its requests begin with the same text, so its hash is their prefix key. */
export function attemptSettings(
  { limits, grammar, turns, one_turn: around }: Pick<BundleFile, 'limits' | 'grammar' | 'turns' | 'one_turn'>,
  model: ModelSettings,
  bundleHash: string,
): AgentSettings {
  return {
    ...model,
    maxTokens: limits.max_tokens,
    maxTurns: limits.max_turns,
    maxMessages: limits.context_messages,
    maxContextTokens: limits.context_tokens,
    parallelTools: limits.parallel_tools,
    verifyAttempts: limits.verify_attempts,
    parallelCalls: grammar.allow_parallel_calls,
    constraint: grammar.strategy,
    prefixKey: bundleHash,
    ...(turns === 'one' && around !== undefined ? oneTurn(around) : {}),
  }
}

/** What code gathers, the model's turn, a second one if it did not call, and the submission. Nothing is given back to it. */
const turnsOfOne = 4

function oneTurn({ gather, carry_out: carryOut }: NonNullable<BundleFile['one_turn']>) {
  return { oneTurn: { gather, carryOut }, maxTurns: turnsOfOne, verifyAttempts: 0, parallelCalls: false }
}
