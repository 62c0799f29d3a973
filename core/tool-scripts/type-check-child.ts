import { readLines, writeLine } from './line-channel.ts'
import { typeDiagnostics } from './type-diagnostics.ts'
import type { FromTypeCheckProcess, ToTypeCheckProcess } from './type-check-process.ts'

/** The process that checks types: one reply a line, in their order, until the host closes its side. */
const input = 0
const output = 1

function say(message: FromTypeCheckProcess): void {
  writeLine(output, JSON.stringify(message))
}

function diagnosticsOf({ code }: ToTypeCheckProcess): FromTypeCheckProcess {
  return { t: 'checked', diagnostics: typeDiagnostics(code) }
}

say({ t: 'ready' })
for (const line of readLines(input)) say(diagnosticsOf(JSON.parse(line)))
