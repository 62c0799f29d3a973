import { Monty, MontyError, MontyTypingError } from '@pydantic/monty'
import type { TypeDiagnostic } from './type-check-process.ts'

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

/** Python's own functions of which the same is true. */
const builtins = ['filter', 'getattr', 'hasattr', 'iter', 'map', 'next', 'setattr']

/** The lines before the code. They bring in no name that a script could mean but those Python has. */
const prefixLines = [
  'from typing import Any as __Any; __any: __Any = None',
  ...builtins.map((name) => `${name}: __Any = None`),
  ...Object.entries(exceptions).map(([name, base]) => `class ${name}(${base}): ...`),
]
const prefix = `${prefixLines.join('\n')}\n`

const maxDiagnostics = 100
/** A type that grew is written out in megabytes. */
const maxMessage = 500

/** Of Monty's JSON. The host checks what is made of it: a schema here would double the time the process takes to start. */
type Told = { code: string; message: string; severity: string; location: { row: number; column: number } }

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
function toldOf(code: string): Told[] {
  try {
    new Monty('pass').typeCheck(code)
    return []
  } catch (error) {
    if (error instanceof MontyTypingError) return JSON.parse(error.displayDiagnostics('json'))
    if (!(error instanceof MontyError)) throw error
    return []
  }
}
