import { Monty, MontyError, MontyTypingError } from '@pydantic/monty'
import { readLines, writeLine } from './line-channel.ts'
import type { FromTypeCheckProcess, ToTypeCheckProcess, TypeDiagnostic } from './type-checker.ts'

const input = 0
const output = 1

function say(message: FromTypeCheckProcess): void {
  writeLine(output, JSON.stringify(message))
}

/** Exceptions that Monty has but its checker does not know (monty-language.test.ts), with their base classes. */
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

const builtins = ['filter', 'getattr', 'hasattr', 'iter', 'map', 'next', 'setattr']

/** The lines put before the code. They define only names that Python has. */
const prefixLines = [
  'from typing import Any as __Any; __any: __Any = None',
  ...builtins.map((name) => `${name}: __Any = None`),
  ...Object.entries(exceptions).map(([name, base]) => `class ${name}(${base}): ...`),
]
const prefix = `${prefixLines.join('\n')}\n`

const maxDiagnostics = 100
/** A type that grows in a loop is printed in megabytes. */
const maxMessage = 500

/** Describes Monty's JSON. Only the host validates: a schema here would double the start time of the process. */
type MontyDiagnostic = { code: string; message: string; severity: string; location: { row: number; column: number } }

/** Leaves out syntax errors. Some code keeps the checker busy for ever, and deeply nested code ends the process. */
function typeDiagnostics(code: string): TypeDiagnostic[] {
  return checkTypes(prefix + code)
    .filter(({ code: kind, severity }) => kind !== 'invalid-syntax' && severity !== 'warning' && severity !== 'info')
    .filter(({ location }) => location.row > prefixLines.length)
    .slice(0, maxDiagnostics)
    .map(({ message, location: { row, column } }) => ({
      row: row - prefixLines.length,
      column,
      message: message.length <= maxMessage ? message : `${message.slice(0, maxMessage - 1).toWellFormed()}…`,
    }))
}

/** Monty compiles only `pass`: the checked code may contain what Monty cannot run. */
function checkTypes(code: string): MontyDiagnostic[] {
  try {
    new Monty('pass').typeCheck(code)
    return []
  } catch (error) {
    if (error instanceof MontyTypingError) return JSON.parse(error.displayDiagnostics('json'))
    if (!(error instanceof MontyError)) throw error
    return []
  }
}

say({ t: 'ready' })
for (const line of readLines(input)) {
  const { code }: ToTypeCheckProcess = JSON.parse(line)
  say({ t: 'checked', diagnostics: typeDiagnostics(code) })
}
