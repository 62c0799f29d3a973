import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import type { ParsedScript } from './parse-script.ts'
import type { ScriptFault, SourcePosition } from './script-declarations.ts'
import { startLimitedProcess } from './limited-process.ts'
import { applySourceEdits, sourceIndex } from './source-edit.ts'

export type TypeChecker = {
  /** Reports type errors as E100, one at line 1 when the checker cannot handle the script. Takes about 30 ms. AGENT_010 after `close`. */
  faults(script: ParsedScript): Promise<ScriptFault[]>
  close(): Promise<void>
}

/** Row and column are 1-based, the column in code points. */
const TypeDiagnostic = z.object({ row: z.int(), column: z.int(), message: z.string() })
export type TypeDiagnostic = z.infer<typeof TypeDiagnostic>

/** The messages between the host and the process: JSON, one a line; one `checked` for each `code`. */
export type ToTypeCheckProcess = { code: string }

export const FromTypeCheckProcess = z.discriminatedUnion('t', [
  z.object({ t: z.literal('ready') }),
  z.object({ t: z.literal('checked'), diagnostics: z.array(TypeDiagnostic) }),
])
export type FromTypeCheckProcess = z.infer<typeof FromTypeCheckProcess>

type TypeCheckAnswer =
  | { kind: 'checked'; diagnostics: TypeDiagnostic[] }
  | { kind: 'hung' }
  | { kind: 'ended'; reason: string }

type Checker = { limitMs: number; process: ReturnType<typeof startTypeCheckProcess> | undefined; closed: boolean }

/** Runs Monty's type checker in a process of its own, since some scripts keep it busy for ever. Each script has `limitMs`. */
export function openTypeChecker({ limitMs = 5_000 }: { limitMs?: number } = {}): TypeChecker {
  const checker: Checker = { limitMs, process: startTypeCheckProcess(limitMs), closed: false }
  let last: Promise<unknown> = Promise.resolve()
  const answerTo = (code: string): Promise<TypeCheckAnswer> => {
    const answer = last.then(() => check(checker, code))
    last = answer.catch(() => undefined)
    return answer
  }
  return {
    async faults(script) {
      const code = applySourceEdits(script.source, script.typeEdits)
      return faultsOf(script, code, await answerTo(code), limitMs)
    },
    async close() {
      checker.closed = true
      await checker.process?.end()
    },
  }
}

/** A process may end because of earlier scripts, so code that was not its first is tried once more in a new process. */
async function check(checker: Checker, code: string): Promise<TypeCheckAnswer> {
  if (checker.closed) throw closedError()
  checker.process ??= startTypeCheckProcess(checker.limitMs)
  const isUsed = checker.process.isUsed()
  const answer = await checker.process.check(code)
  if (checker.closed) throw closedError()
  if (answer.kind === 'checked') return answer
  checker.process = undefined
  return answer.kind === 'ended' && isUsed ? check(checker, code) : answer
}

function closedError(): AppError {
  return new AppError('AGENT_010', 'the type checker was closed')
}

const file = fileURLToPath(new URL('type-check-child.ts', import.meta.url))

/** Suffices for about 1,000 scripts. Ends a process that checks for ever after its host was killed. */
const cpuSeconds = 60

function startTypeCheckProcess(limitMs: number) {
  const ready = Promise.withResolvers<void>()
  const exited = Promise.withResolvers<TypeCheckAnswer>()
  let reply = Promise.withResolvers<TypeCheckAnswer>()
  let isUsed = false
  const child = startLimitedProcess(
    { file, message: FromTypeCheckProcess, cpuSeconds },
    {
      onMessage: (message) =>
        message.t === 'ready' ? ready.resolve() : reply.resolve({ kind: 'checked', diagnostics: message.diagnostics }),
      onExit: (lastWords) => exited.resolve({ kind: 'ended', reason: lastWords.split('\n')[0] ?? '' }),
    },
  )
  return {
    isUsed: () => isUsed,
    async check(code: string): Promise<TypeCheckAnswer> {
      await Promise.race([ready.promise, exited.promise])
      reply = Promise.withResolvers()
      child.send(JSON.stringify({ code } satisfies ToTypeCheckProcess), { isBusy: false })
      let hasHung = false
      const stopWatch = after(limitMs, () => {
        hasHung = true
        child.kill()
      })
      const answer = await Promise.race([reply.promise, exited.promise])
      stopWatch()
      isUsed = true
      return hasHung && answer.kind === 'ended' ? { kind: 'hung' } : answer
    },
    async end(): Promise<void> {
      child.kill()
      await exited.promise
    },
  }
}

function faultsOf(script: ParsedScript, code: string, answer: TypeCheckAnswer, limitMs: number): ScriptFault[] {
  if (answer.kind === 'checked') {
    const starts = lineStarts(code)
    return answer.diagnostics.map(({ row, column, message }) => {
      const index = indexOfPoint(code, starts[row - 1] ?? 0, column)
      return { code: 'E100', severity: 'error', ...positionAt(script, index), message }
    })
  }
  const what = answer.kind === 'hung' ? `gave up after ${limitMs / 1_000} s` : `ended: ${answer.reason}`
  const message = `the type checker ${what}; write simpler types, such as none that grow in a loop`
  return [{ code: 'E100', severity: 'error', line: 1, column: 1, message }]
}

function lineStarts(code: string): number[] {
  const starts = [0]
  for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

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
