import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'

export type LintServer<Question, Answer> = {
  /** Makes the process ready for a question, and returns what asks it. Calls `moved` at each step, so that a slow start is told from a stuck one. */
  ready(question: Question, moved: () => void): Promise<() => Promise<Answer>>
  /** Ends the process; what it was asked is lost, for the reason `why`. Safe to call twice. */
  end(why?: string): void
  /** Says why it has ended; undefined while it runs. */
  whyOver(): string | undefined
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

/** A process that is lost before it is ready says nothing of the question: it is started so often at most. */
const mostStarts = 3

/**
 * Answers in the order of asking, one question at a time, so that it is known which one ends the process. It starts with the first. An
 * answer may take `limitMs`, and so may each step of a start.
 */
export function openServerTurns<Question, Answer>(
  start: () => LintServer<Question, Answer>,
  { limitMs }: { limitMs: number },
): ServerTurns<Question, Answer> {
  const closing = new AbortController()
  let running: LintServer<Question, Answer> | undefined
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const current = () => {
    if (closing.signal.aborted) throw closed()
    if (running?.isSpent() === true) running.end()
    running = running !== undefined && running.whyOver() === undefined ? running : start()
    return running
  }
  const answer = async (question: Question): Promise<Answer | Lost> => {
    for (let starts = 1; ; starts += 1) {
      const server = current()
      const slow = `its start made no progress for ${limitMs / 1000} s`
      const ready = await bounded((moved) => server.ready(question, moved), { server, limitMs, slow })
      if (closing.signal.aborted) throw closed()
      if (ready.kind === 'lost' && starts < mostStarts) continue
      if (ready.kind === 'lost') return ready
      const asked = await bounded(ready.result, { server, limitMs, slow: 'it took too long' })
      if (asked.kind === 'done') return asked.result
      if (closing.signal.aborted) throw closed()
      return asked
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

function closed(): AppError {
  return new AppError('AGENT_010', 'the linter is closed')
}

type Bounds = { server: Pick<LintServer<never, unknown>, 'end' | 'whyOver'>; limitMs: number; slow: string }

/** Ends a process whose work fails, or does not move for `limitMs`. */
async function bounded<Result>(
  work: (moved: () => void) => Promise<Result>,
  { server, limitMs, slow }: Bounds,
): Promise<{ kind: 'done'; result: Result } | Lost> {
  let cancel = after(limitMs, () => server.end(slow))
  const moved = () => {
    cancel()
    cancel = after(limitMs, () => server.end(slow))
  }
  try {
    return { kind: 'done', result: await work(moved) }
  } catch (error) {
    // What fails in a process that has ended fails for the reason that it ended.
    const why = server.whyOver() ?? (error instanceof Error ? error.message : String(error))
    server.end()
    return { kind: 'lost', why }
  } finally {
    cancel()
  }
}
