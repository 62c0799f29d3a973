import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { ToolDefinition, ToolResult } from '#domain/turn.ts'
import type { ToolRun } from '#objects/attempt-record.ts'
import type { CompiledScript } from '#tool-scripts/compiled-script.ts'
import type { ScriptEnding, ScriptPool } from '#tool-scripts/script-pool.ts'
import type { HostFunction } from './host/host-function.ts'
import { refused, type ExecutedCall, type Tool } from './tool-set.ts'

export type ScriptToolParts = {
  definition: ToolDefinition
  script: CompiledScript
  /** Inputs the host fills in, as they are when the script starts: what the model sends under these names is not used. */
  hostInputs(): Promise<Readonly<Record<string, unknown>>>
  host: ReadonlyMap<string, HostFunction>
  pool: Pick<ScriptPool, 'run'>
}

/** A tool whose work is a script in the sandbox; every answer of the host goes into the attempt's record. */
export function scriptTool(parts: ScriptToolParts): Tool {
  return {
    definition: parts.definition,
    async run(args, signal) {
      const externals: ToolRun['externals'] = []
      const inputs = { ...args, ...(await parts.hostInputs()) }
      const ending = await parts.pool.run(parts.script, { inputs, externals: journalled(parts, externals) }, signal)
      const executed = resultOf(parts.definition.name, ending)
      return { ...executed, externals }
    },
  }
}

/** Only what the script declares is offered, and each answer is kept for the record. */
function journalled(parts: ScriptToolParts, journal: ToolRun['externals']) {
  const declared = parts.script.declarations.externals.flatMap(({ name }) => {
    const run = parts.host.get(name)
    return run === undefined ? [] : [{ name, run }]
  })
  return Object.fromEntries(
    declared.map(({ name, run }) => [
      name,
      async (args: readonly unknown[]) => {
        try {
          const answer = await run(args)
          journal.push({ name, args, answer: answer ?? null })
          return answer
        } catch (error) {
          journal.push({ name, args, answer: { error: error instanceof Error ? error.message : String(error) } })
          throw error
        }
      },
    ]),
  )
}

function resultOf(tool: string, ending: ScriptEnding): ExecutedCall {
  switch (ending.kind) {
    case 'returned':
      return { result: toolResult(ending.value), externals: [] }
    case 'raised': {
      const where = ending.line === undefined ? '' : ` (line ${ending.line})`
      return refused('TOOL_004', `${tool} raised ${ending.type}: ${ending.message}${where}`)
    }
    case 'stopped':
      return refused(ending.code, `${tool} was stopped: ${ending.message}`)
    case 'crashed':
      return refused('TOOL_004', `${tool} crashed: ${ending.message}`)
  }
}

/** The answer as scripts write it (contract.md §6). */
const WireResult = z.object({
  result: z.unknown(),
  summary: z.string(),
  knowledge_delta: z.record(z.string(), z.unknown()).nullish(),
  outcome: z.enum(['success', 'partial', 'error']),
  error: z.string().nullish(),
})

/** A script's answer off that shape is kept whole, under `result`, and counts as partial. */
function toolResult(value: unknown): ToolResult {
  const parsed = WireResult.safeParse(value)
  if (!parsed.success) {
    return {
      outcome: 'partial',
      result: { raw_output: value },
      summary: 'the tool gave no summary',
      knowledgeDelta: {},
    }
  }
  const { result, summary, outcome, knowledge_delta: knowledgeDelta, error } = parsed.data
  const base = { outcome, result, summary, knowledgeDelta: knowledgeDelta ?? {} }
  return typeof error === 'string' ? { ...base, error } : base
}

/** The script of a tool that a bundle promises; a bundle that was stored without it is damaged. */
export function scriptOf<Script>(scripts: ReadonlyMap<string, Script>, tool: string): Script {
  const script = scripts.get(tool)
  if (script === undefined) throw new AppError('AGENT_001', `the bundle holds no script for the tool ${tool}`)
  return script
}
