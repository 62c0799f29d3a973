import type { ThreadEnding, ThreadLink } from './thread-link.ts'

/** Lends out at most `max` threads, one borrower each, in the order asked. */
export type ThreadLender = {
  /** Runs `work` with a thread. One that is lost or spent is not lent again; a new one takes its place when needed. */
  use(work: (link: ThreadLink) => Promise<ThreadEnding>): Promise<ThreadEnding>
  close(): Promise<void>
}

export function openThreadLender(max: number, open: () => ThreadLink): ThreadLender {
  const all = new Set<ThreadLink>()
  const idle: ThreadLink[] = []
  const waiting: PromiseWithResolvers<void>[] = []
  let closed = false

  async function borrow(): Promise<ThreadLink> {
    for (;;) {
      if (closed) throw closedError()
      const free = idle.pop()
      if (free !== undefined) return free
      if (all.size < max) break
      const turn = Promise.withResolvers<void>()
      waiting.push(turn)
      await turn.promise
    }
    const started = open()
    all.add(started)
    return started
  }

  async function use(work: (link: ThreadLink) => Promise<ThreadEnding>): Promise<ThreadEnding> {
    const link = await borrow()
    try {
      const ending = await work(link)
      if (ending.kind === 'lost') {
        if (closed) throw closedError()
        all.delete(link)
      } else if (ending.spent) {
        await link.close()
        all.delete(link)
      }
      return ending
    } finally {
      if (all.has(link)) idle.push(link)
      waiting.shift()?.resolve()
    }
  }

  async function close(): Promise<void> {
    closed = true
    for (const turn of waiting.splice(0)) turn.resolve()
    await Promise.all([...all].map((link) => link.close()))
  }

  return { use, close }
}

function closedError(): Error {
  return new Error('the parse pool is closed')
}
