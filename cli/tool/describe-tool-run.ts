import { basename } from 'node:path'
import type { SuspendedEnding } from '#tool-scripts/script-ending.ts'
import type { ScriptEvent } from '#tool-scripts/script-event.ts'
import { resultFaults } from '#stages/operate/tools/script-tool.ts'
import { plural } from '#domain/timeline/words.ts'
import { visible } from '../terminal-text.ts'
import type { ToolRun } from './run-tool.ts'

export function describeToolRun(run: ToolRun, applied: boolean): string {
  const { ending, changes } = run
  const parts = ['printed' in ending ? endedLine(ending.printed) : '', describeEnding(run), shapeNote(run)]
  if (changes.length > 0) parts.push(...changes.map(({ diff }) => diff), whatBecame(run, applied))
  return visible(parts.join(''))
}

/** Returns the value as JSON, for people and programs. Control characters of terminals are escaped, which JSON allows. */
export function valueText(value: unknown): string {
  return visible(`${JSON.stringify(value, undefined, 2)}\n`)
}

function describeEnding({ script, ending }: ToolRun): string {
  if (ending.kind === 'returned') return ''
  if (ending.kind === 'suspended')
    return `${script.path}: waits for an answer to "${askedIn(ending)}": give it with --answer TEXT\n`
  if (ending.kind !== 'raised') {
    const limit = 'limit' in ending ? ` (limit: ${ending.limit})` : ''
    return `${script.path}: ${ending.kind}: ${ending.code} ${ending.message}${limit}\n`
  }
  const position = ending.line === undefined ? script.path : `${script.path}:${ending.line}`
  return `${position}: ${ending.type}: ${ending.message}\nTraceback (most recent call last):\n${ending.traceback}\n`
}

/** A bundle's tool should return a result as docs/guide/tool-scripts.md describes it; the model gets any other value unchanged. */
function shapeNote({ ending, checked }: ToolRun): string {
  if (ending.kind !== 'returned' || checked.owner === undefined) return ''
  const faults = resultFaults(ending.value).join('; ')
  return faults === '' ? '' : `note: the model is given this value although it is incomplete: ${faults}\n`
}

function whatBecame({ ending, changes }: ToolRun, applied: boolean): string {
  const changed = plural(changes.length, 'changed file')
  if (applied) return `${changed} written to the workspace\n`
  if (ending.kind === 'returned') return `${changed}, not written: --apply writes them to the workspace\n`
  return `${changed}, not written, because the script failed before its end\n`
}

function endedLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

export function toolRunView(run: ToolRun, applied: boolean) {
  const { ending, changes, durationMs } = run
  const { kind, journal: externals, ...rest } = ending
  return {
    ending: kind,
    value: null,
    printed: '',
    ...rest,
    duration_ms: durationMs,
    externals,
    changes: changes.map(({ path, kind: change }) => ({ path, kind: change })),
    diff: changes.map(({ diff }) => diff).join(''),
    applied,
  }
}

/** Returns the inputs, calls and ending of a run, line by line. Equal runs give equal logs: no times, no machine. */
export function runLog({ script, inputs, ending, changes }: ToolRun): string {
  const lines = [`script ${basename(script.path)}`]
  for (const [name, value] of Object.entries(inputs)) lines.push(`input ${name} ${JSON.stringify(value)}`)
  for (const call of ending.journal) {
    lines.push(`call ${call.name} ${JSON.stringify(call.args)}`)
    if ('error' in call) lines.push(`raised ${call.error.type} ${JSON.stringify(call.error.message)}`)
    else lines.push(`answered ${JSON.stringify(call.answer)}`)
  }
  if ('printed' in ending) lines.push(`printed ${JSON.stringify(ending.printed)}`)
  lines.push(endingLine(ending), ...changes.map(({ kind, path }) => `${kind} ${JSON.stringify(path)}`))
  return lines.map((line) => `${line}\n`).join('')
}

function askedIn(ending: SuspendedEnding): string {
  return 'question' in ending ? ending.question.text : ending.asked.name
}

/** Leaves out the message of a limit, which may contain a duration. */
function endingLine(ending: ToolRun['ending']): string {
  if (ending.kind === 'returned') return `returned ${JSON.stringify(ending.value)}`
  if (ending.kind === 'suspended') return `asked ${JSON.stringify(askedIn(ending))}`
  if (ending.kind !== 'raised')
    return [ending.kind, ending.code, ...('limit' in ending ? [ending.limit] : [])].join(' ')
  return `raised ${ending.type} ${JSON.stringify(ending.message)}${ending.line === undefined ? '' : ` line ${ending.line}`}`
}

/** One line of `--events-to`; figures that the process could not report are null. */
export function scriptEventView(event: ScriptEvent) {
  if (event.type === 'run_start') return event
  const { wallMs: wall_ms, ownMs: own_ms = null, externalCalls: external_calls, printedChars = null, ...rest } = event
  return { ...rest, wall_ms, own_ms, external_calls, printed_chars: printedChars }
}
