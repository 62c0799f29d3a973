import { AppError } from '#domain/error.ts'
import type { ScriptLimitPreset } from '#domain/script-limit-preset.ts'
import type { ToolDefinition } from '#domain/turn.ts'
import type { CompiledScript } from '#tool-scripts/compiled-script.ts'
import type { ScriptRequest } from '#tool-scripts/script-call.ts'
import type { ScriptEvent } from '#tool-scripts/script-event.ts'
import type { RunEnding, ScriptPool } from '#tool-scripts/script-pool.ts'
import { answeredJournal } from '#tool-scripts/script-suspended.ts'
import type { Log } from '#platform/log.ts'
import { effectsOf } from './host/host-effects.ts'
import type { HostFunction } from './host/host-function.ts'
import { toolResult } from './tool-result.ts'
import { refused, type DoneCall, type ExecutedCall, type Tool } from './tool-set.ts'

export type ScriptToolParts = {
  definition: ToolDefinition
  script: CompiledScript
  /** Inputs the host fills in, as they are when the script starts: what the model sends under these names is not used. */
  hostInputs(): Promise<Readonly<Record<string, unknown>>>
  host: ReadonlyMap<string, HostFunction>
  limits: ScriptLimitPreset
  pool: Pick<ScriptPool, 'run'>
  log: Pick<Log, 'debug'>
}

/** A tool whose work is a script in the sandbox; every answer of the host goes into the attempt's record. */
export function scriptTool(parts: ScriptToolParts): Tool {
  const { definition, script } = parts
  const granted = { externals: offered(parts), limits: { preset: parts.limits } }
  return {
    definition,
    effects: effectsOf(script.declarations.externals),
    async run(args, signal) {
      const inputs = { ...args, ...(await parts.hostInputs()) }
      return runWatched(parts, { inputs, ...granted }, signal)
    },
    async resume({ waiting, answer }, signal) {
      if (waiting.scriptHash !== script.hash)
        throw new AppError('ASK_004', `${script.path} has changed since it asked; start the run again`)
      const { inputs } = waiting
      return runWatched(parts, { inputs, ...granted, journal: answeredJournal(waiting, answer) }, signal)
    },
  }
}

/** The events of the run go to the debug log, its own time into the record. */
async function runWatched(parts: ScriptToolParts, request: ScriptRequest, signal: AbortSignal): Promise<ExecutedCall> {
  const { definition, script, pool, log } = parts
  let own: Pick<DoneCall, 'scriptMs'> = {}
  const onEvent = (event: ScriptEvent): void => {
    if (event.type !== 'run_start' && event.ownMs !== undefined) own = { scriptMs: event.ownMs }
    log.debug('tool script', { tool: definition.name, ...event })
  }
  const call = executed(parts, request.inputs, await pool.run(script, { ...request, onEvent }, signal))
  return call.kind === 'done' ? { ...call, ...own } : call
}

/** Only what the script declares is offered. */
function offered({ script, host }: ScriptToolParts): Readonly<Record<string, HostFunction>> {
  const declared = script.declarations.externals.flatMap(({ name }) => {
    const run = host.get(name)
    return run === undefined ? [] : [[name, run] as const]
  })
  return Object.fromEntries(declared)
}

function executed(parts: ScriptToolParts, inputs: ScriptRequest['inputs'], ending: RunEnding): ExecutedCall {
  const { name } = parts.definition
  const externals = [...ending.journal]
  const printed = 'printed' in ending && ending.printed !== '' ? { printed: ending.printed } : {}
  const failed = (code: string, message: string): ExecutedCall => ({
    ...refused(code, `${name} ${message}`),
    externals,
    ...printed,
  })
  switch (ending.kind) {
    case 'returned':
      return { kind: 'done', result: toolResult(ending.value), externals, ...printed }
    case 'raised': {
      const where = ending.line === undefined ? '' : ` (line ${ending.line})`
      return failed('TOOL_004', `raised ${ending.type}: ${ending.message}${where}`)
    }
    case 'stopped':
      return failed(ending.code, `was stopped: ${ending.message}`)
    case 'crashed':
      return failed('TOOL_004', `crashed: ${ending.message}`)
    case 'diverged':
      throw new AppError(ending.code, `${parts.script.path} cannot go on: ${ending.message}`)
    case 'suspended': {
      const { asked, question } = ending
      const waiting = { scriptHash: parts.script.hash, inputs, journal: externals, asked }
      return { kind: 'suspended', question, waiting }
    }
  }
}

/** The script of a tool that a bundle promises; a bundle that was stored without it is damaged. */
export function scriptOf<Script>(scripts: ReadonlyMap<string, Script>, tool: string): Script {
  const script = scripts.get(tool)
  if (script === undefined) throw new AppError('AGENT_001', `the bundle holds no script for the tool ${tool}`)
  return script
}
