import { Monty, MontyError, MontyTypingError } from '@pydantic/monty'
import { z } from 'zod'
import { syntaxErrorLine } from './monty-ending.ts'
import type { ParsedScript } from './parse-script.ts'
import type { ScriptFault } from './script-declarations.ts'
import { applySourceEdits } from './source-edit.ts'

/** One line in front of the source; Monty joins it with a line break. */
const prefix = 'from typing import Any; __any: Any = None'

const Diagnostics = z.array(
  z.object({ message: z.string(), severity: z.string(), location: z.object({ row: z.int(), column: z.int() }) }),
)

/** E100 for every type error Monty's checker finds, E000 where Monty cannot parse the script. About 30 ms a script. */
export function typeFaults(script: ParsedScript): ScriptFault[] {
  const fault = { code: 'E100', severity: 'error' } as const
  try {
    new Monty(applySourceEdits(script.source, script.typeEdits)).typeCheck(prefix)
    return []
  } catch (error) {
    if (error instanceof MontyTypingError) {
      return Diagnostics.parse(JSON.parse(error.displayDiagnostics('json')))
        .filter((found) => found.severity !== 'warning' && found.severity !== 'info')
        .map(({ message, location }) => ({
          ...fault,
          line: Math.max(1, location.row - 1),
          column: location.column,
          message,
        }))
    }
    if (!(error instanceof MontyError)) throw error
    return [{ ...fault, code: 'E000', line: syntaxErrorLine(error) ?? 1, column: 1, message: error.message }]
  }
}
