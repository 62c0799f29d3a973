import { createInterface } from 'node:readline/promises'
import { AppError } from '#domain/error.ts'
import type { AskedQuestion } from '#domain/question.ts'
import { visible } from '../terminal-text.ts'

/** Answers a script's question; undefined when nobody can. */
export type AnswerQuestion = (question: AskedQuestion, signal: AbortSignal) => Promise<string | undefined>

/** Takes the `given` answers in order, then asks the person at the terminal, if there is one. */
export function answerQuestions(given: readonly string[]): AnswerQuestion {
  const rest = [...given]
  return async (question, signal) => {
    const next = rest.shift() ?? (process.stdin.isTTY ? await askAtTerminal(question, signal) : undefined)
    if (next === undefined || question.choices === null || question.choices.includes(next)) return next
    throw new AppError('ASK_005', `"${next}" is not a choice of "${question.text}": ${question.choices.join(', ')}`)
  }
}

/** Asks again until the answer is one the question takes; undefined when the person ends the input (Ctrl-D). */
async function askAtTerminal({ text, choices }: AskedQuestion, signal: AbortSignal): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT')) // the prompt would keep Ctrl-C to itself
  const among = choices === null ? '' : ` (${choices.join(' | ')})`
  try {
    for (;;) {
      const given = await terminal.question(visible(`${text}${among} `), { signal })
      if (given.trim() !== '' && (choices === null || choices.includes(given))) return given
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error && error.name === 'AbortError') return undefined
    throw error
  } finally {
    terminal.close()
  }
}
