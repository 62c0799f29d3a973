import { Monty, MontyError } from '@pydantic/monty'
import { syntaxErrorLine } from './monty-ending.ts'
import type { SourcePosition } from './script-declarations.ts'

/** `isSyntax`: it is no Python at all, and not something that Monty lacks. */
export type MontySyntaxFault = SourcePosition & { message: string; isSyntax: boolean }

/**
 * Where and why Monty does not take the code, or undefined when it does. One fault, the first. The code must not be
 * nested deeply: that ends the process.
 */
export function montySyntaxFault(code: string): MontySyntaxFault | undefined {
  try {
    void new Monty(code)
    return undefined
  } catch (error) {
    if (!(error instanceof MontyError)) throw error
    const text = String(Reflect.apply(error.display, error, ['traceback']))
    const line = syntaxErrorLine(error) ?? 1
    const [reason = ''] = error.exception.message.split('\n')
    const isSyntax = error.exception.typeName === 'SyntaxError' && !reason.includes('not yet supported')
    const message = `${isSyntax ? 'invalid syntax' : 'the sandbox cannot run this'}: ${reason}`
    return { line, column: columnOf(text, code.split('\n')[line - 1] ?? ''), message, isSyntax }
  }
}

/** Monty shows the line without its indentation, four columns in, and marks the place below it, unless it is the end. */
function columnOf(traceback: string, sourceLine: string): number {
  const mark = /\n {4}( *)~+/.exec(traceback)?.[1]
  if (mark === undefined) return sourceLine.trimEnd().length + 1
  const code = sourceLine.trimStart()
  const before = Array.from(code).slice(0, mark.length).join('')
  return sourceLine.length - code.length + before.length + 1
}
