import { AppError } from '#domain/error.ts'
import { answerFault } from './check-external.ts'
import type { CompiledScript } from './compiled-script.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import { plainValue } from './plain-value.ts'
import type { ScriptEnding } from './script-ending.ts'
import type { ScriptListener } from './script-event.ts'
import type { ChosenLimits, ScriptLimits } from './script-limits.ts'
import type { SuspendedEnding } from './script-suspended.ts'
import { inputSchema, type ObjectSchema } from './script-schema.ts'
import { validateArguments } from './tool-arguments.ts'

/**
 * Answers one call of a script. The arguments are plain JSON in the order of the declared parameters. A ScriptError is
 * raised in the script, a ScriptSuspended lets it wait; any other error ends the script and rejects its run.
 */
export type ExternalFunction = (args: unknown[]) => unknown

export type ScriptRequest = {
  inputs: Readonly<Record<string, unknown>>
  externals: Readonly<Record<string, ExternalFunction>>
  limits?: ChosenLimits
  /** The calls of an earlier run of this script: they are answered as they were then, and the host is not called. */
  journal?: readonly JournalEntry[]
  onEvent?: ScriptListener
}

/** One execution, from the pool's queue to its ending. `settled` once its promise is. */
export type ScriptCall = {
  readonly id: number
  readonly script: CompiledScript
  readonly inputs: Record<string, unknown>
  readonly externals: Readonly<Record<string, ExternalFunction>>
  readonly limits: ScriptLimits
  /** What the host answered so far: a process that takes the call over begins with it. */
  readonly journal: JournalEntry[]
  /** Its size, as `journalSize` tells it. */
  journalBytes: number
  /** How many processes began it. */
  starts: number
  /** Processes that ended under this call through no fault that one can name. */
  lostProcesses: number
  /** What the process said of the whole run when it ended. */
  told: { ownMs: number; printedChars: number } | undefined
  settled: boolean
  resolve(ending: ScriptEnding | SuspendedEnding): void
  reject(error: unknown): void
}

const schemas = new WeakMap<CompiledScript, ObjectSchema>()

/**
 * The inputs with their defaults, as plain JSON. Before anything runs: TOOL_002 for inputs that do not fit the
 * declarations, AGENT_001 for an external that nobody answers, ASK_004 for a journal whose answers do not fit.
 */
export function checkedInputs(
  script: CompiledScript,
  request: ScriptRequest,
  maxSize: number,
): Record<string, unknown> {
  const { externals, inputs } = script.declarations
  const missing = externals.find(({ name }) => !Object.hasOwn(request.externals, name))
  if (missing !== undefined)
    throw new AppError('AGENT_001', `${script.path}:${missing.line} external ${missing.name} is unknown to the host`)
  for (const entry of request.journal ?? []) checkEntry(script, entry)
  const schema = schemas.get(script) ?? inputSchema(script.declarations)
  schemas.set(script, schema)
  const checked = validateArguments(schema, plainInputs(script, request.inputs, maxSize))
  if (!checked.ok) throw new AppError('TOOL_002', `${script.path}: ${checked.faults.join('; ')}`)
  return Object.fromEntries(inputs.map(({ name }) => [name, checked.args[name] ?? null]))
}

function checkEntry(script: CompiledScript, entry: JournalEntry): void {
  const external = script.declarations.externals.find(({ name }) => name === entry.name)
  const fault = external === undefined || 'error' in entry ? undefined : answerFault(external, entry.answer)
  if (fault !== undefined) throw new AppError('ASK_004', `${script.path}: in the journal ${fault}`)
}

function plainInputs(script: CompiledScript, inputs: unknown, maxSize: number): unknown {
  try {
    return plainValue(inputs, maxSize)
  } catch (error) {
    throw new AppError(
      'TOOL_002',
      `${script.path}: the inputs cannot be taken: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}
