import { Monty, MontyError, MontyTypingError } from '@pydantic/monty'
import { z } from 'zod'

/** What the type checker says of a line of the code, its column in code points; both are 1-based. */
export const TypeDiagnostic = z.object({ row: z.int(), column: z.int(), message: z.string() })
export type TypeDiagnostic = z.infer<typeof TypeDiagnostic>

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

const maxDiagnostics = 100
/** A type that grew is written out in megabytes. */
const maxMessage = 500

const Told = z.array(
  z.object({
    code: z.string(),
    message: z.string(),
    severity: z.string(),
    location: z.object({ row: z.int(), column: z.int() }),
  }),
)

/**
 * The type errors of code that the declarations of a script were taken out of; syntax is not its business. Some code keeps
 * it busy for ever, and code that is nested deeply ends the process: for a process that may end (type-check-child.ts).
 */
export function typeDiagnostics(code: string): TypeDiagnostic[] {
  return toldOf(prefix + code)
    .filter(({ code: kind, severity }) => kind !== 'invalid-syntax' && severity !== 'warning' && severity !== 'info')
    .filter(({ location }) => location.row > prefixLines.length)
    .slice(0, maxDiagnostics)
    .map(({ message, location: { row, column } }) => ({
      row: row - prefixLines.length,
      column,
      message: message.length <= maxMessage ? message : `${message.slice(0, maxMessage - 1).toWellFormed()}…`,
    }))
}

/** The checker runs over the text it is given before a script, so that text may hold what Monty cannot run. */
function toldOf(code: string): z.infer<typeof Told> {
  try {
    new Monty('pass').typeCheck(code)
    return []
  } catch (error) {
    if (error instanceof MontyTypingError) return Told.parse(JSON.parse(error.displayDiagnostics('json')))
    if (!(error instanceof MontyError)) throw error
    return []
  }
}
