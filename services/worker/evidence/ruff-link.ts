import { Worker } from 'node:worker_threads'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import { threadEnv } from '#platform/thread-env.ts'
import type { LintReport } from './lint-report.ts'

/** What the thread says: its version once, then one report for each text, in the order of the texts. */
export type RuffReply = { version: string } | { report: LintReport }

/** What became of a text: its report, or it cost the thread its life, or another text did before this one's turn. */
export type RuffAnswer = { kind: 'report'; report: LintReport } | { kind: 'lost'; why: string } | { kind: 'unread' }

/**
 * One thread with Ruff in it. Texts wait in the thread itself, so that a busy event loop here does not keep it idle
 * between two of them. After `lost` or `unread` it is of no more use.
 */
export type RuffLink = {
  version: string
  lint(text: string): Promise<RuffAnswer>
  close(): Promise<void>
}

/** Loading Ruff has this long, however short the limit per text is. */
const startLimitMs = 30_000

/** Ruff's reports are JavaScript objects: a text with so many faults that they need more is one it cannot lint. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 }

type Thread = {
  worker: Worker
  isGone: boolean
  /** Why it ends, for whoever it was busy with. */
  fault: string
  /** What it was asked and has not answered, the one it works on first; the very first asks for the version. */
  line: { tell(reply: RuffReply | undefined, isBlamed: boolean): void; limitMs: number }[]
  stopWatch: (() => void) | undefined
}

/** Starts a thread; a text that takes longer than `limitMs` ends it. TOOL_004 when Ruff does not start. */
export async function openRuffLink(limitMs: number): Promise<RuffLink> {
  const worker = new Worker(new URL('./ruff-thread.ts', import.meta.url), { resourceLimits, env: threadEnv() })
  const thread: Thread = { worker, isGone: false, fault: 'Ruff stopped', line: [], stopWatch: undefined }
  worker.on('message', (reply: RuffReply) => {
    thread.line.shift()?.tell(reply, false)
    watchFirst(thread)
  })
  worker.on('error', (error) => (thread.fault = `Ruff crashed on it: ${error.message}`))
  worker.on('exit', () => {
    thread.isGone = true
    thread.stopWatch?.()
    for (const [place, asked] of thread.line.splice(0).entries()) asked.tell(undefined, place === 0)
  })
  const started = await new Promise<RuffReply | undefined>((tell) => stand(thread, { tell, limitMs: startLimitMs }))
  if (started === undefined || !('version' in started)) {
    throw new AppError('TOOL_004', `Ruff does not start: ${thread.fault}`)
  }
  return {
    version: started.version,
    lint: (text) => ask(thread, text, limitMs),
    close: async () => void (await worker.terminate()),
  }
}

function ask(thread: Thread, text: string, limitMs: number): Promise<RuffAnswer> {
  if (thread.isGone) return Promise.resolve({ kind: 'unread' })
  return new Promise((resolve) => {
    const tell = (reply: RuffReply | undefined, isBlamed: boolean) => {
      if (reply !== undefined && 'report' in reply) resolve({ kind: 'report', report: reply.report })
      else resolve(isBlamed ? { kind: 'lost', why: thread.fault } : { kind: 'unread' })
    }
    stand(thread, { tell, limitMs })
    thread.worker.postMessage(text)
  })
}

function stand(thread: Thread, asked: Thread['line'][number]): void {
  thread.line.push(asked)
  if (thread.line.length === 1) watchFirst(thread)
}

/** Ends the thread when it works too long on the first of the line. */
function watchFirst(thread: Thread): void {
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
