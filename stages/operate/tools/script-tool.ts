import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import type { ToolDefinition, ToolResult } from '#domain/turn.ts'
import type { CompiledScript } from '#tool-scripts/compiled-script.ts'
import type { ExternalFunction, ScriptRequest } from '#tool-scripts/script-call.ts'
import type { ScriptEvent } from '#tool-scripts/script-event.ts'
import type { RunEnding, ScriptPool } from '#tool-scripts/script-pool.ts'
import { answeredJournal } from '#tool-scripts/script-ending.ts'
import type { ChosenLimits } from '#tool-scripts/script-limits.ts'
import type { Log } from '#platform/log.ts'
import { parseJson } from '#domain/json.ts'
import type { externalSignatures } from '#tool-scripts/external-signatures.ts'
import { type DoneCall, type ExecutedCall, refused, type Tool } from './tool-set.ts'

export type ScriptToolParts = {
  definition: ToolDefinition
  script: CompiledScript
  /** The inputs that the worker provides, read when the script starts. They override what the model sends. */
  providedInputs(): Promise<Readonly<Record<string, unknown>>>
  externals: ReadonlyMap<string, ExternalFunction>
  limits: ChosenLimits
  pool: Pick<ScriptPool, 'run'>
  log: Pick<Log, 'debug'>
}

export function scriptTool(parts: ScriptToolParts): Tool {
  const { definition, script } = parts
  const granted = { externals: Object.fromEntries(parts.externals), limits: parts.limits }
  return {
    definition,
    effects: effectsOf(script.declarations.externals),
    async run(args, signal) {
      const inputs = { ...args, ...(await parts.providedInputs()) }
      return runWatched(parts, { inputs, ...granted }, signal)
    },
    async resume({ waiting, answer }, signal) {
      if (waiting.scriptHash !== script.hash)
        throw new AppError('ASK_004', `${script.path} has changed since it asked; start the run again`)
      if (waiting.fault !== undefined) throw new AppError(waiting.fault.code, waiting.fault.message)
      const journal = answer === null ? waiting.journal : answeredJournal(waiting, answer)
      return runWatched(parts, { inputs: waiting.inputs, ...granted, journal }, signal)
    },
  }
}

/** The externals that change nothing. What may suspend the script counts as writing: `ask_user`, `run_command`, `run_tests`. */
const reading: ReadonlySet<string> = new Set<keyof typeof externalSignatures>([
  'read_file',
  'read_files',
  'file_exists',
  'list_dir',
  'find_files',
  'search_files',
  'run_linter',
  'describe_definition',
  'describe_tests',
  'run_snippet',
  'report_progress',
  'log',
])

/** Says what a script can do at most: the externals it declares are its only way out. */
export function effectsOf(externals: readonly { name: string }[]): Tool['effects'] {
  return externals.every(({ name }) => reading.has(name)) ? 'reads' : 'writes'
}

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

function executed(parts: ScriptToolParts, inputs: ScriptRequest['inputs'], ending: RunEnding): ExecutedCall {
  const { name } = parts.definition
  const externals = [...ending.journal]
  const printed = 'printed' in ending && ending.printed !== '' ? { printed: ending.printed } : {}
  const failed = (code: string, message: string) => ({ ...refused(code, `${name} ${message}`), externals, ...printed })
  switch (ending.kind) {
    case 'returned':
      return { kind: 'done', result: toolResult(ending.value), externals, ...printed }
    case 'raised': {
      const refusal = uncaughtRefusal(ending, externals)
      if (refusal !== undefined) {
        const answer = { outcome: 'error' as const, result: null, summary: `${name} was refused: ${refusal}` }
        return { kind: 'done', result: { ...answer, knowledgeDelta: {}, error: refusal }, externals, ...printed }
      }
      const where = ending.line === undefined ? '' : ` (line ${ending.line})`
      return failed('TOOL_004', `raised ${ending.type}: ${ending.message}${where}`)
    }
    case 'stopped':
      return failed(ending.code, `was stopped: ${ending.message}`)
    case 'crashed':
      return failed('TOOL_004', `crashed: ${ending.message}`)
    case 'diverged':
      throw new AppError(ending.code, `${parts.script.path} cannot be continued: ${ending.message}`)
    case 'suspended': {
      const { kind, asked, journal: _, ...awaits } = ending
      return { kind, ...awaits, waiting: { scriptHash: parts.script.hash, inputs, journal: externals, asked } }
    }
  }
}

/** Returns the reason when the script let the exception of its last external call pass: the external refused that call. */
function uncaughtRefusal(
  raised: Pick<Extract<RunEnding, { kind: 'raised' }>, 'type' | 'message'>,
  externals: readonly JournalEntry[],
): string | undefined {
  const last = externals.at(-1)
  if (last === undefined || !('error' in last) || last.error.type !== raised.type) return undefined
  // A TypeError is about how the script calls, which no model can mend.
  if (raised.type === 'TypeError' || raised.message === '') return undefined
  // The message of an ending is bounded, that of a journal is not.
  return last.error.message.startsWith(raised.message) ? last.error.message : undefined
}

/** A result as scripts return it (docs/guide/tool-scripts.md). */
const WireResult = z.object({
  result: z.unknown(),
  summary: z.string(),
  knowledge_delta: z.record(z.string(), z.unknown()).nullish(),
  outcome: z.enum(['success', 'partial', 'error']).default('success'),
  error: z.string().nullish(),
})

/** Reads a script's value as a result; a text may hold it as JSON, whole or in its last line. Any other value is `raw_output`, as `partial`. */
export function toolResult(value: unknown): ToolResult {
  const parsed = WireResult.safeParse(typeof value === 'string' ? writtenIn(value) : value)
  if (!parsed.success) {
    const summary = 'the tool gave no summary'
    return { outcome: 'partial', result: { raw_output: value }, summary, knowledgeDelta: {} }
  }
  const { result, summary, outcome, knowledge_delta: knowledgeDelta, error } = parsed.data
  const base = { outcome, result, summary, knowledgeDelta: knowledgeDelta ?? {} }
  return typeof error === 'string' ? { ...base, error } : base
}

function writtenIn(text: string): unknown {
  const whole = text.trim()
  return parseJson(whole) ?? parseJson(whole.slice(whole.lastIndexOf('\n') + 1))
}

/** Says where a script's return value differs from that shape, one fault per key. */
export function resultFaults(value: unknown): string[] {
  const { issues = [] } = WireResult.safeParse(value).error ?? {}
  return issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
}

/** The script of a tool; AGENT_001 when the stored bundle lacks it. */
export function scriptOf<Script>(scripts: ReadonlyMap<string, Script>, tool: string): Script {
  const script = scripts.get(tool)
  if (script === undefined) throw new AppError('AGENT_001', `the bundle holds no script for the tool ${tool}`)
  return script
}
