import type { ParsedScript } from './parse-script.ts'
import type { ScriptFault, SourcePosition } from './script-declarations.ts'
import { applySourceEdits, sourceIndex } from './source-edit.ts'
import type { TypeDiagnostic } from './type-check-process.ts'

/** The code whose types are checked in place of the script's: inputs and externals have their declared types. */
export function codeToCheck({ source, typeEdits }: ParsedScript): string {
  return applySourceEdits(source, typeEdits)
}

/** What was found in `codeToCheck(script)` as E100 at the author's line and column. */
export function placedFaults(script: ParsedScript, found: readonly TypeDiagnostic[]): ScriptFault[] {
  const code = codeToCheck(script)
  const starts = lineStarts(code)
  return found.map(({ row, column, message }) => {
    const index = indexOfPoint(code, starts[row - 1] ?? 0, column)
    return { code: 'E100', severity: 'error', ...positionAt(script, index), message }
  })
}

function lineStarts(code: string): number[] {
  const starts = [0]
  for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The checker counts columns in code points. */
function indexOfPoint(code: string, lineStart: number, column: number): number {
  let index = lineStart
  for (let left = column - 1; left > 0; left -= 1) index += (code.codePointAt(index) ?? 0) > 0xffff ? 2 : 1
  return index
}

function positionAt({ source, typeEdits }: ParsedScript, editedIndex: number): SourcePosition {
  const before = source.slice(0, sourceIndex(source, typeEdits, editedIndex))
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: before.length - lineStart + 1 }
}
