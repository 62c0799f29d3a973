import { Monty, MontyError, MontyTypingError } from '@pydantic/monty'
import { z } from 'zod'
import type { ParsedScript } from './parse-script.ts'
import type { ScriptFault, SourcePosition } from './script-declarations.ts'
import { applySourceEdits, sourceIndex } from './source-edit.ts'

/** Exceptions that Monty runs and its checker does not know (monty-language.test.ts), and what they derive from. */
const exceptions = {
  FileExistsError: 'OSError',
  FileNotFoundError: 'OSError',
  IsADirectoryError: 'OSError',
  NotADirectoryError: 'OSError',
  PermissionError: 'OSError',
  ImportError: 'Exception',
  ModuleNotFoundError: 'ImportError',
  UnboundLocalError: 'NameError',
  UnicodeDecodeError: 'ValueError',
} as const

/** The lines before the code. They bring in no name that a script could mean but those Python has. */
const prefixLines = [
  'from typing import Any as __Any; __any: __Any = None',
  ...Object.entries(exceptions).map(([name, base]) => `class ${name}(${base}): ...`),
]
const prefix = `${prefixLines.join('\n')}\n`

const maxFaults = 100

const Diagnostics = z.array(
  z.object({
    code: z.string(),
    message: z.string(),
    severity: z.string(),
    location: z.object({ row: z.int(), column: z.int() }),
  }),
)

/**
 * E100 for every type error that Monty's checker finds, at the author's line and column. About 30 ms a script. Inputs and
 * externals have their declared types. Syntax is not its business. The
 * code must not be nested deeply: that ends the process.
 */
export function typeFaults(script: ParsedScript): ScriptFault[] {
  const code = applySourceEdits(script.source, script.typeEdits)
  const starts = lineStarts(code)
  return diagnosticsOf(prefix + code)
    .filter(({ code: kind, severity }) => kind !== 'invalid-syntax' && severity !== 'warning' && severity !== 'info')
    .filter(({ location }) => location.row > prefixLines.length)
    .slice(0, maxFaults)
    .map(({ message, location }) => {
      const index = indexOfPoint(code, starts[location.row - prefixLines.length - 1] ?? 0, location.column)
      return { code: 'E100', severity: 'error', ...positionAt(script, index), message }
    })
}

/** The checker runs over the text it is given before a script, so that text may hold what Monty cannot run. */
function diagnosticsOf(code: string): z.infer<typeof Diagnostics> {
  try {
    new Monty('pass').typeCheck(code)
    return []
  } catch (error) {
    if (error instanceof MontyTypingError) return Diagnostics.parse(JSON.parse(error.displayDiagnostics('json')))
    if (!(error instanceof MontyError)) throw error
    return []
  }
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
