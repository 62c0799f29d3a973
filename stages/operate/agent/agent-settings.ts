import { isRecord } from '#domain/json.ts'
import type { ModelRequest, ToolDefinition } from '#domain/turn.ts'
import type { AgentBundle, BundleFile } from '#domain/agent-bundle.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { HistoryLimits } from './history.ts'

export type AgentSettings = HistoryLimits &
  Pick<ModelRequest, 'model' | 'temperature' | 'maxTokens' | 'parallelCalls' | 'constraint' | 'prefixKey'> & {
    /** Applies to every turn except the last, which must submit. */
    toolChoice: 'required' | 'auto'
    maxTurns: number
    /** Names the tools that code calls before the model is asked. */
    gather: readonly string[]
    /** Names the tools after whose success code submits. */
    submitting: readonly string[]
    /** Is set where the model answers once, with `carryOut`, and code submits. `answer`: the form that its arguments are held to. */
    oneTurn?: { carryOut: string; answer?: ToolDefinition | undefined } | undefined
    parallelTools: number
    verifyAttempts: number
  }

export type ModelSettings = Pick<AgentSettings, 'model' | 'temperature' | 'toolChoice'>

type SettingBundle = Pick<AgentBundle, 'tools'> & {
  file: Pick<BundleFile, 'limits' | 'grammar' | 'allow_parallel_calls' | 'gather' | 'tools' | 'turns' | 'one_turn'>
}
type Around = NonNullable<BundleFile['one_turn']>

/** The settings of one bundle. Its requests begin with the same text, so its hash is their prefix key. */
export function attemptSettings(
  { file, tools }: SettingBundle,
  model: ModelSettings,
  bundleHash: string,
): AgentSettings {
  const { limits, grammar, gather, turns, one_turn: around } = file
  const submitting = file.tools.flatMap((tool) => ('submits' in tool && tool.submits ? tool.name : []))
  return {
    ...model,
    maxTokens: limits.max_tokens,
    maxTurns: limits.max_turns + (gather.length === 0 ? 0 : 1),
    gather,
    submitting,
    maxMessages: limits.context_messages,
    maxContextTokens: limits.context_tokens,
    parallelTools: limits.parallel_tools,
    verifyAttempts: limits.verify_attempts,
    parallelCalls: file.allow_parallel_calls,
    constraint: grammar,
    prefixKey: bundleHash,
    ...(turns === 'one' && around !== undefined ? oneTurn(around, tools) : {}),
  }
}

/** Counts what code gathers, the model's turn, another if it did not call, and the submission. Nothing is given back to it. */
const turnsOfOne = 4

function oneTurn({ gather, carry_out: carryOut, answer }: Around, tools: AgentBundle['tools']) {
  const held = tools.find(({ name }) => name === carryOut)
  const form = held && getOrMake(answers, held, () => answerForm(held, answer))
  return {
    ...(gather !== undefined && { gather }),
    oneTurn: { carryOut, answer: form },
    maxTurns: turnsOfOne,
    verifyAttempts: 0,
    parallelCalls: false,
  }
}

const answers = new WeakMap<ToolDefinition, ToolDefinition>()

function answerForm(tool: ToolDefinition, answer: Around['answer']): ToolDefinition {
  const { properties } = tool.parameters
  const inputs = isRecord(properties) ? Object.entries(properties) : []
  const held = inputs.map(([name, schema]) => [name, isRecord(schema) ? { ...schema, ...answer[name] } : schema])
  return { ...tool, parameters: { ...tool.parameters, properties: Object.fromEntries(held) } }
}
