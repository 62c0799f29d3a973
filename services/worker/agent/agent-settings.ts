import type { ModelRequest } from '#domain/turn.ts'
import type { BundleFile } from '#domain/agent-bundle.ts'
import type { HistoryLimits } from './history.ts'

/** What the loop asks the model for, and its limits. */
export type AgentSettings = HistoryLimits &
  Pick<ModelRequest, 'model' | 'temperature' | 'maxTokens' | 'parallelCalls' | 'constraint' | 'prefixKey'> & {
    /** For every turn except the last, which must submit. */
    toolChoice: 'required' | 'auto'
    maxTurns: number
    /** How many calls of one reply, to tools that only read, may run at the same time. */
    parallelTools: number
    /** How often a submission that fails its verification is given back. */
    verifyAttempts: number
  }

/** The part that the worker's configuration decides. */
export type ModelSettings = Pick<AgentSettings, 'model' | 'temperature' | 'toolChoice'>

/** The settings of one bundle. Its requests begin with the same text, so its hash is their prefix key. */
export function attemptSettings(
  { limits, grammar }: Pick<BundleFile, 'limits' | 'grammar'>,
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
  }
}
