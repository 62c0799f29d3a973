import { AppError } from '#domain/error.ts'
import type { ThreadAnswer, ThreadLink } from './thread-link.ts'

export type KnownAnswer<Report> = Exclude<ThreadAnswer<Report>, { kind: 'unread' }>

export type LastingThread<Question, Report> = {
  /** Of what runs in it; starts it. */
  version(): Promise<string>
  ask(question: Question): Promise<KnownAnswer<Report>>
  close(): Promise<void>
}

/**
 * A thread that what it is asked may destroy: then another is started for those that waited behind it. It is started when
 * it is first needed.
 */
export function openLastingThread<Question, Report>(
  open: () => Promise<ThreadLink<Question, Report>>,
  name: string,
): LastingThread<Question, Report> {
  let link: Promise<ThreadLink<Question, Report>> | undefined
  let closed = false
  const closedError = () => new AppError('AGENT_010', `${name} was closed`)

  /** A thread that did not start, or has ended, is not kept. */
  const drop = (asked: Promise<ThreadLink<Question, Report>>) => {
    if (link === asked) link = undefined
  }
  return {
    async version() {
      return (await (link ??= open())).version
    },
    async ask(question) {
      for (;;) {
        if (closed) throw closedError()
        const asked = (link ??= open())
        const answer = await asked
          .then((thread) => thread.ask(question))
          .catch((error: unknown) => {
            drop(asked)
            throw error
          })
        if (closed) throw closedError()
        if (answer.kind !== 'report') drop(asked)
        if (answer.kind !== 'unread') return answer
      }
    },
    async close() {
      closed = true
      const thread = await link?.catch(() => undefined)
      await thread?.close()
    },
  }
}
