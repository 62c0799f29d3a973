import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'

export type LintServer<Question, Answer> = {
  ask(question: Question): Promise<Answer>
  /** Ends the process; what it was asked is lost, for the reason `why`. Safe to call twice. */
  end(why?: string): void
  isOver(): boolean
  /** Is true when the process is to be replaced, since it keeps something of each text. */
  isSpent(): boolean
}

/** The process ended or took too long; the next question is not affected. */
export type Lost = { kind: 'lost'; why: string }

export type ServerTurns<Question, Answer> = {
  /** AGENT_010 once it is closed. */
  ask(question: Question): Promise<Answer | Lost>
  waiting(): number
  /** Ends the process, if there is one; running and waiting questions are lost. Safe to call twice. */
  close(): Promise<void>
}

/** Answers in the order of asking, one question at a time, so that it is known which one ends the process. It starts with the first. */
export function openServerTurns<Question, Answer>(
  start: () => LintServer<Question, Answer>,
  { limitMs }: { limitMs: number },
): ServerTurns<Question, Answer> {
  const closing = new AbortController()
  let running: LintServer<Question, Answer> | undefined
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const answer = async (question: Question): Promise<Answer | Lost> => {
    if (closing.signal.aborted) throw new AppError('AGENT_010', 'the linter is closed')
    if (running?.isSpent() === true) running.end()
    running = running?.isOver() === false ? running : start()
    const server = running
    const cancel = after(limitMs, () => server.end('it took too long'))
    try {
      return await server.ask(question)
    } catch (error) {
      server.end()
      if (closing.signal.aborted) throw new AppError('AGENT_010', 'the linter is closed')
      return { kind: 'lost', why: error instanceof Error ? error.message : String(error) }
    } finally {
      cancel()
    }
  }
  return {
    ask(question) {
      waiting += 1
      const turn = last.then(() => answer(question)).finally(() => (waiting -= 1))
      last = turn.catch(() => undefined)
      return turn
    },
    waiting: () => waiting,
    async close() {
      closing.abort()
      running?.end('the linter is closed')
      await last
    },
  }
}
