import { AppError } from '#domain/error.ts'
import type { ParsedScript } from './parse-script.ts'
import type { ScriptFault } from './script-declarations.ts'
import { startTypeCheckProcess, type TypeCheckAnswer, type TypeCheckProcess } from './type-check-process.ts'
import { codeToCheck, placedFaults } from './type-faults.ts'

export type TypeChecker = {
  /**
   * E100 for every type error of the script, at the author's line and column; about 30 ms. One at line 1 for a script
   * the checker cannot manage. Rejected with AGENT_010 once it is closed.
   */
  faults(script: ParsedScript): Promise<ScriptFault[]>
  /** Ends what is under way. Nothing is left when it resolves. */
  close(): Promise<void>
}

type Checker = { limitMs: number; process: TypeCheckProcess | undefined; closed: boolean }

/**
 * Monty's type checker, in a process of its own: some scripts keep it busy for ever, or take all the memory there is.
 * Scripts are checked one after the other, each for `limitMs` at most.
 */
export function openTypeChecker({ limitMs = 5_000 }: { limitMs?: number } = {}): TypeChecker {
  const checker: Checker = { limitMs, process: startTypeCheckProcess(limitMs), closed: false }
  let last: Promise<unknown> = Promise.resolve()
  const answerTo = (code: string): Promise<TypeCheckAnswer> => {
    const answer = last.then(() => check(checker, code))
    last = answer.catch(() => undefined)
    return answer
  }
  return {
    faults: async (script) => faultsOf(script, await answerTo(codeToCheck(script)), limitMs),
    async close() {
      checker.closed = true
      await checker.process?.end()
    },
  }
}

/** A process that others have used may have ended for what they left in it: then the code has another try. */
async function check(checker: Checker, code: string): Promise<TypeCheckAnswer> {
  if (checker.closed) throw closedError()
  checker.process ??= startTypeCheckProcess(checker.limitMs)
  const { isUsed } = checker.process
  const answer = await checker.process.check(code)
  if (checker.closed) throw closedError()
  if (answer.kind === 'checked') return answer
  checker.process = undefined
  return answer.kind === 'ended' && isUsed ? check(checker, code) : answer
}

function faultsOf(script: ParsedScript, answer: TypeCheckAnswer, limitMs: number): ScriptFault[] {
  if (answer.kind === 'checked') return placedFaults(script, answer.diagnostics)
  const what = answer.kind === 'hung' ? `gave up after ${limitMs / 1_000} s` : `ended: ${answer.reason}`
  const message = `the type checker ${what}; write simpler types, such as none that grow in a loop`
  return [{ code: 'E100', severity: 'error', line: 1, column: 1, message }]
}

function closedError(): AppError {
  return new AppError('AGENT_010', 'the type checker was closed')
}
