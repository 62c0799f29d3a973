import { AppError } from '#domain/error.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { CompiledScript } from './compiled-script.ts'
import { plainValue } from './plain-value.ts'
import type { ScriptEnding, SuspendedEnding } from './script-ending.ts'
import type { ScriptListener } from './script-event.ts'
import type { ChosenLimits, ScriptLimits } from './script-limits.ts'
import { type ExternalDeclaration, inputSchema, type ObjectSchema } from './script-declarations.ts'
import { validateArguments, valueFaults } from './tool-arguments.ts'

/** Answers one call, with arguments in the order of the parameters. ScriptError is raised in the script, ScriptSuspended waits; others reject its run. */
export type ExternalFunction = (args: unknown[]) => unknown

/** Is raised in the script as the Python exception `pythonType`, or as RuntimeError when Python has no such type. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError'
  readonly pythonType: string

  constructor(pythonType: string, message: string) {
    super(message)
    this.pythonType = pythonType
  }
}

export type ScriptRequest = {
  inputs: Readonly<Record<string, unknown>>
  externals: Readonly<Record<string, ExternalFunction>>
  limits?: ChosenLimits
  /** The calls of an earlier run of this script: they get the same answers again, without calling the externals. */
  journal?: readonly JournalEntry[]
  onEvent?: ScriptListener | undefined
}

/** One execution, from the pool's queue to its ending. `settled` once its promise is. */
export type ScriptCall = {
  readonly id: number
  readonly script: CompiledScript
  readonly inputs: Record<string, unknown>
  readonly externals: ScriptRequest['externals']
  readonly limits: ScriptLimits
  /** The answers so far: another process that takes over the call starts with them. */
  readonly journal: JournalEntry[]
  journalBytes: number
  starts: number
  /** Processes that ended under this call for no known cause. */
  lostProcesses: number
  reported: { ownMs: number; printedChars: number } | undefined
  settled: boolean
  resolve(ending: ScriptEnding | SuspendedEnding): void
  reject(error: unknown): void
}

const schemas = new WeakMap<CompiledScript, ObjectSchema>()

/** Returns the inputs with their defaults. TOOL_002 for wrong inputs, AGENT_001 for a missing external, ASK_004 for a journal that does not fit. */
export function checkedInputs(
  script: CompiledScript,
  request: ScriptRequest,
  maxSize: number,
): Record<string, unknown> {
  const { externals, inputs } = script.declarations
  const missing = externals.find(({ name }) => !Object.hasOwn(request.externals, name))
  if (missing !== undefined)
    throw new AppError('AGENT_001', `${script.path}:${missing.line} external ${missing.name} does not exist`)
  for (const entry of request.journal ?? []) {
    const external = externals.find(({ name }) => name === entry.name)
    const fault = external === undefined || 'error' in entry ? undefined : answerFault(external, entry.answer)
    if (fault !== undefined) throw new AppError('ASK_004', `${script.path}: in the journal ${fault}`)
  }
  const schema = getOrMake(schemas, script, () => inputSchema(script.declarations))
  const checked = validateArguments(schema, plainInputs(script, request.inputs, maxSize))
  if (!checked.ok) throw new AppError('TOOL_002', `${script.path}: ${checked.faults.join('; ')}`)
  return Object.fromEntries(inputs.map(({ name }) => [name, checked.args[name] ?? null]))
}

function plainInputs(script: CompiledScript, inputs: unknown, maxSize: number): unknown {
  try {
    return plainValue(inputs, maxSize)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('TOOL_002', `${script.path}: the inputs cannot be taken: ${reason}`, { cause })
  }
}

/** Says how a call's arguments differ from the declaration, as Python would: the script process is not trusted. */
export function argumentFault(external: ExternalDeclaration, args: readonly unknown[]): string | undefined {
  const { name, parameters } = external
  if (args.length !== parameters.length) return `${name}() takes ${parameters.length} arguments, ${args.length} given`
  for (const [index, parameter] of parameters.entries()) {
    const value = args[index]
    if (value === null && parameter.default === null) continue
    const [fault] = valueFaults(parameter.schema, value, parameter.name)
    if (fault !== undefined) return `${name}(): ${fault}`
  }
  return undefined
}

/** Says how an answer of the host differs from the script's declaration, which matches the host's (E013). */
export function answerFault({ name, returnsSchema }: ExternalDeclaration, answer: unknown): string | undefined {
  const [fault] = valueFaults(returnsSchema, answer, 'its answer')
  return fault === undefined ? undefined : `the answer of the external ${name} does not match its declaration: ${fault}`
}
