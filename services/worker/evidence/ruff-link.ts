import { Worker } from 'node:worker_threads'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import type { LintReport } from './lint-report.ts'

/** What the thread says: its version once, then one report for each text. */
export type RuffReply = { version: string } | { report: LintReport }

/** What became of a text: its report, or it cost the thread its life. */
export type RuffAnswer = { kind: 'report'; report: LintReport } | { kind: 'lost'; why: string }

/** One thread with Ruff in it, for one text at a time. After `lost` it is of no more use. */
export type RuffLink = {
  version: string
  lint(text: string): Promise<RuffAnswer>
  close(): Promise<void>
}

/** Loading Ruff has this long, however short the limit per text is. */
const startLimitMs = 30_000

/** Ruff's reports are JavaScript objects: a text with so many faults that they need more is one it cannot lint. */
const resourceLimits = { maxOldGenerationSizeMb: 256 }

/** Starts a thread; a text that takes longer than `limitMs` ends it. TOOL_004 when Ruff does not start. */
export async function openRuffLink(limitMs: number): Promise<RuffLink> {
  const worker = new Worker(new URL('./ruff-thread.ts', import.meta.url), { resourceLimits })
  let isGone = false
  let fault = 'Ruff stopped'
  worker.on('error', (error) => (fault = `Ruff crashed on it: ${error.message}`))
  worker.on('exit', () => (isGone = true))

  /** The thread's next message; undefined when it ends instead. */
  async function nextReply(withinMs: number): Promise<RuffReply | undefined> {
    if (isGone) return undefined
    const { promise, resolve } = Promise.withResolvers<RuffReply | undefined>()
    const onReply = (reply: RuffReply) => resolve(reply)
    const onExit = () => resolve(undefined)
    worker.once('message', onReply).once('exit', onExit)
    const stopWatch = after(withinMs, () => {
      fault = `it took longer than ${withinMs} ms`
      void worker.terminate()
    })
    return promise.finally(() => {
      stopWatch()
      worker.off('message', onReply).off('exit', onExit)
    })
  }

  const started = await nextReply(startLimitMs)
  if (started === undefined || !('version' in started)) throw new AppError('TOOL_004', `Ruff does not start: ${fault}`)
  return {
    version: started.version,
    async lint(text) {
      worker.postMessage(text)
      const reply = await nextReply(limitMs)
      return reply !== undefined && 'report' in reply
        ? { kind: 'report', report: reply.report }
        : { kind: 'lost', why: fault }
    },
    close: async () => void (await worker.terminate()),
  }
}
