import { basename } from 'node:path'
import type { ToolRun } from './run-tool.ts'

/** What a run was given, asked its host and came to, line by line; the same for the same run: no times, no machine. */
export function runLog({ script, inputs, ending, changes }: ToolRun): string {
  const lines = [`script ${basename(script.path)}`]
  for (const [name, value] of Object.entries(inputs)) lines.push(`input ${name} ${JSON.stringify(value)}`)
  for (const call of ending.journal) {
    lines.push(`call ${call.name} ${JSON.stringify(call.args)}`)
    lines.push(
      'error' in call
        ? `raised ${call.error.type} ${JSON.stringify(call.error.message)}`
        : `answered ${JSON.stringify(call.answer)}`,
    )
  }
  if ('printed' in ending) lines.push(`printed ${JSON.stringify(ending.printed)}`)
  lines.push(endingLine(ending), ...changes.map(({ kind, path }) => `${kind} ${JSON.stringify(path)}`))
  return lines.map((line) => `${line}\n`).join('')
}

/** Not the message of a limit: it may say how long something took. */
function endingLine(ending: ToolRun['ending']): string {
  if (ending.kind === 'returned') return `returned ${JSON.stringify(ending.value)}`
  if (ending.kind === 'suspended') return `asked ${JSON.stringify(ending.question.text)}`
  if (ending.kind !== 'raised')
    return [ending.kind, ending.code, ...('limit' in ending ? [ending.limit] : [])].join(' ')
  return `raised ${ending.type} ${JSON.stringify(ending.message)}${ending.line === undefined ? '' : ` line ${ending.line}`}`
}
