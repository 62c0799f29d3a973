import { Monty, MontyError, MontyRuntimeError } from '@pydantic/monty'
import { ValueRefused } from './plain-value.ts'
import { mostPrinted, type PrintedText } from './printed-text.ts'
import { JournalDiverged } from './replay-journal.ts'
import type { ScriptEnding } from './script-ending.ts'
import type { ScriptLimits } from './script-limits.ts'
import type { SourcePosition } from './script-declarations.ts'

export type FailedRun = {
  script: { path: string; code: string; externals: readonly string[] }
  limits: ScriptLimits
  printed: PrintedText
  ownMs: number
}

const maxFrames = 20
const maxMessage = 4_000
const maxSourceLine = 200

/** The ending for an error thrown while a script ran. An error that is not the script's own is a crash. */
export function endingOfError(error: unknown, run: FailedRun): ScriptEnding {
  if (error instanceof ValueRefused && error.reason !== 'unreadable')
    return { kind: 'stopped', code: 'TOOL_006', limit: error.reason, message: error.message }
  if (error instanceof JournalDiverged) return { kind: 'diverged', code: 'ASK_004', message: error.message }
  if (!(error instanceof MontyError))
    return { kind: 'crashed', code: 'TOOL_004', message: String(error).slice(0, maxMessage) }
  const { typeName: type, message: full } = error.exception
  const message = full.slice(0, maxMessage).replace(/^Internal error in monty: /, '')
  return limitEnding(type, message, run) ?? raisedEnding(error, type, message, run)
}

function limitEnding(type: string, message: string, { limits, ownMs, printed }: FailedRun): ScriptEnding | undefined {
  if (printed.isOver && type === 'Exception') {
    const words = `more than ${mostPrinted.heldBytes} bytes were printed`
    return { kind: 'stopped', code: 'TOOL_006', limit: 'printed_text', message: words }
  }
  if (type === 'MemoryError') return { kind: 'stopped', code: 'TOOL_006', limit: 'memory', message }
  if (type === 'RecursionError') return { kind: 'stopped', code: 'TOOL_006', limit: 'recursion', message }
  // A script can raise TimeoutError itself, or let one of the host pass: only one that used its time up hit the limit.
  if (type !== 'TimeoutError' || ownMs < limits.durationMs * 0.9) return undefined
  return { kind: 'stopped', code: 'TOOL_003', limit: 'duration', message }
}

function raisedEnding(error: MontyError, type: string, message: string, run: FailedRun): ScriptEnding {
  const frames = framesOf(error, run.script.externals)
  const line = frames.at(-1)?.line
  const lines = run.script.code.split('\n')
  const where = frames.slice(-maxFrames).map((frame) => {
    const source = (lines[frame.line - 1] ?? '').trim().slice(0, maxSourceLine)
    return `  ${run.script.path}:${frame.line} in ${frame.functionName}\n    ${source}`
  })
  return {
    kind: 'raised',
    type,
    message,
    ...(line === undefined ? {} : { line }),
    traceback: [...where, message === '' ? type : `${type}: ${message}`].join('\n'),
    printed: run.printed.text(),
  }
}

/** Lists the outermost first, without the generated wrappers of externals: the author's line is that of their caller. */
function framesOf(error: MontyError, externals: readonly string[]): { line: number; functionName: string }[] {
  if (error instanceof MontyRuntimeError) {
    return error
      .traceback()
      .map(({ line, functionName }) => ({ line, functionName: functionName ?? '<module>' }))
      .filter(({ functionName }) => !externals.includes(functionName))
  }
  const line = syntaxErrorLine(error)
  return line === undefined ? [] : [{ line, functionName: '<module>' }]
}

function syntaxErrorLine(error: MontyError): number | undefined {
  const text = String(Reflect.apply(error.display, error, ['traceback']))
  const line = /, line (\d+)/.exec(text)?.[1]
  return line === undefined ? undefined : Number(line)
}

/** `isSyntax`: invalid Python, as opposed to Python that Monty does not support. */
type MontySyntaxFault = SourcePosition & { message: string; isSyntax: boolean }

/** The first reason why Monty rejects the code, if it does. Deeply nested code would end the process. */
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

/** Monty prints the line with an indentation of four and marks the column below it, except at the end of the line. */
function columnOf(traceback: string, sourceLine: string): number {
  const mark = /\n {4}( *)~+/.exec(traceback)?.[1]
  if (mark === undefined) return sourceLine.trimEnd().length + 1
  const code = sourceLine.trimStart()
  const before = Array.from(code).slice(0, mark.length).join('')
  return sourceLine.length - code.length + before.length + 1
}
