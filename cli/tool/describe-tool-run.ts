import { plural } from '../plural.ts'
import { resultFaults } from '../../services/worker/tools/tool-result.ts'
import { visible } from '../visible.ts'
import type { ToolRun } from './run-tool.ts'

/** What a person is told besides the value: what the script printed, how it ended, and what it changed. */
export function describeToolRun(run: ToolRun, applied: boolean): string {
  const { ending, changes } = run
  const parts = ['printed' in ending ? endedLine(ending.printed) : '', describeEnding(run), shapeNote(run)]
  if (changes.length > 0) parts.push(...changes.map(({ diff }) => diff), whatBecame(run, applied))
  return visible(parts.join(''))
}

/** The value as JSON for people and programs; what a terminal would obey is escaped, which JSON takes. */
export function valueText(value: unknown): string {
  return visible(`${JSON.stringify(value, undefined, 2)}\n`)
}

function describeEnding({ script, ending }: ToolRun): string {
  if (ending.kind === 'returned') return ''
  if (ending.kind === 'suspended')
    return `${script.path}: waits for an answer to "${ending.question.text}": give it with --answer TEXT\n`
  if (ending.kind !== 'raised') {
    const limit = 'limit' in ending ? ` (limit: ${ending.limit})` : ''
    return `${script.path}: ${ending.kind}: ${ending.code} ${ending.message}${limit}\n`
  }
  const place = ending.line === undefined ? script.path : `${script.path}:${ending.line}`
  return `${place}: ${ending.type}: ${ending.message}\nTraceback (most recent call last):\n${ending.traceback}\n`
}

/** A tool of a bundle answers in a shape; another value works, but not as its author means it. */
function shapeNote({ ending, checked }: ToolRun): string {
  if (ending.kind !== 'returned' || checked.owner === undefined) return ''
  const faults = resultFaults(ending.value)
  return faults.length === 0
    ? ''
    : `note: the model is given this value although it is incomplete: ${faults.join('; ')}\n`
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

/** The document of `--json`. */
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
