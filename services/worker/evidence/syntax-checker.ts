import { AppError } from '#domain/error.ts'
import { openLastingThread, type LastingThread } from '#platform/lasting-thread.ts'
import type { SyntaxFacts } from './syntax-faults.ts'
import { openThreadLink } from '#platform/thread-link.ts'

export type SyntaxQuestion = { language: string; text: string }

export type SyntaxChecker = {
  /** TOOL_006 for a text that cannot be parsed: too deep, too large or too slow for its grammar. The next is unharmed. */
  read(question: SyntaxQuestion): Promise<SyntaxFacts>
  /** Ends the thread, if there is one; what is under way fails. Safe to call twice. */
  close(): Promise<void>
}

type SyntaxThread = LastingThread<SyntaxQuestion, SyntaxFacts>

/** Parses in a thread, since a text may damage a grammar's scanner; it is started with the first text. */
export function openSyntaxChecker({ limitMs = 10_000 }: { limitMs?: number } = {}): SyntaxChecker {
  const entry = new URL('./syntax-thread.ts', import.meta.url)
  const open = () => openThreadLink<SyntaxQuestion, SyntaxFacts>({ entry, name: 'the parser', limitMs })
  const thread: SyntaxThread = openLastingThread(open, 'the parser')
  return {
    async read(question) {
      const answer = await thread.ask(question)
      if (answer.kind === 'report') return answer.report
      throw new AppError('TOOL_006', `the file cannot be parsed: ${answer.why}`, { phase: 'execution' })
    },
    close: thread.close,
  }
}
