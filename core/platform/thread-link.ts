import { Worker } from 'node:worker_threads'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import { threadEnv } from '#platform/thread-env.ts'

/** What the thread says: its version once, then one report for each question, in the order of the questions. */
export type ThreadReply<Report> = { version: string } | { report: Report }

/** What became of a text: its report, or it cost the thread its life, or another text did before this one's turn. */
export type ThreadAnswer<Report> =
  | { kind: 'report'; report: Report }
  | { kind: 'lost'; why: string }
  | { kind: 'unread' }

/**
 * One thread with a checker in it. Texts wait in the thread itself, so that a busy event loop here does not keep it idle
 * between two of them. After `lost` or `unread` it is of no more use.
 */
export type ThreadLink<Question, Report> = {
  version: string
  ask(question: Question): Promise<ThreadAnswer<Report>>
  close(): Promise<void>
}

export type ThreadOptions = {
  entry: URL
  /** As errors say it. */
  name: string
  limitMs: number
}

/** Loading the checker has this long, however short the limit per text is. */
const startLimitMs = 30_000

/** Reports are JavaScript objects: a text with so many faults that they need more is one that cannot be checked. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 }

type Thread<Report> = {
  worker: Worker
  isGone: boolean
  /** Why it ends, for whoever it was busy with. */
  fault: string
  /** What it was asked and has not answered, the one it works on first; the very first asks for the version. */
  line: { tell(reply: ThreadReply<Report> | undefined, isBlamed: boolean): void; limitMs: number }[]
  stopWatch: (() => void) | undefined
}

/** Starts a thread; a text that takes longer than `limitMs` ends it. TOOL_004 when it does not start. */
export async function openThreadLink<Question, Report>(options: ThreadOptions): Promise<ThreadLink<Question, Report>> {
  const { entry, name, limitMs } = options
  const worker = new Worker(entry, { resourceLimits, env: threadEnv() })
  const thread: Thread<Report> = { worker, isGone: false, fault: `${name} stopped`, line: [], stopWatch: undefined }
  worker.on('message', (reply: ThreadReply<Report>) => {
    thread.line.shift()?.tell(reply, false)
    watchFirst(thread)
  })
  worker.on('error', (error) => (thread.fault = `${name} crashed on it: ${error.message}`))
  worker.on('exit', () => {
    thread.isGone = true
    thread.stopWatch?.()
    for (const [place, asked] of thread.line.splice(0).entries()) asked.tell(undefined, place === 0)
  })
  const started = await new Promise<ThreadReply<Report> | undefined>((tell) =>
    stand(thread, { tell, limitMs: startLimitMs }),
  )
  if (started === undefined || !('version' in started)) {
    throw new AppError('TOOL_004', `${name} does not start: ${thread.fault}`)
  }
  return {
    version: started.version,
    ask: (question) => ask(thread, question, limitMs),
    close: async () => void (await worker.terminate()),
  }
}

function ask<Report>(thread: Thread<Report>, question: unknown, limitMs: number): Promise<ThreadAnswer<Report>> {
  if (thread.isGone) return Promise.resolve({ kind: 'unread' })
  return new Promise((resolve) => {
    const tell = (reply: ThreadReply<Report> | undefined, isBlamed: boolean) => {
      if (reply !== undefined && 'report' in reply) resolve({ kind: 'report', report: reply.report })
      else resolve(isBlamed ? { kind: 'lost', why: thread.fault } : { kind: 'unread' })
    }
    stand(thread, { tell, limitMs })
    thread.worker.postMessage(question)
  })
}

function stand<Report>(thread: Thread<Report>, asked: Thread<Report>['line'][number]): void {
  thread.line.push(asked)
  if (thread.line.length === 1) watchFirst(thread)
}

/** Ends the thread when it works too long on the first of the line. */
function watchFirst<Report>(thread: Thread<Report>): void {
  thread.stopWatch?.()
  const [first] = thread.line
  if (first === undefined) return
  thread.stopWatch = after(first.limitMs, () => {
    thread.fault = `it took longer than ${first.limitMs} ms`
    thread.isGone = true
    for (const asked of thread.line.splice(1)) asked.tell(undefined, false)
    void thread.worker.terminate()
  })
}
