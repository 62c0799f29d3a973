import type { BundleFile } from '#domain/agent-bundle.ts'
import type { AgentSettings } from '../../agent/agent-settings.ts'

/** What the worker says of every request. */
export type ModelSettings = Pick<AgentSettings, 'model' | 'temperature' | 'toolChoice'>

/** What a bundle's file asks of the loop. Requests of one bundle begin alike. */
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
