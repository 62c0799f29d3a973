import { availableParallelism } from 'node:os'
import { AppError } from '#domain/error.ts'
import type { ParseResult } from './parse-messages.ts'
import { openThreadLender } from './thread-lender.ts'
import { openThreadLink, type ParseJob } from './thread-link.ts'

export type ParsePool = {
  threads: number
  /** Parses a batch on one thread, one result per job in order. Waits for a thread when all are busy. */
  parse(jobs: readonly ParseJob[]): Promise<ParseResult[]>
  /** Ends the threads; batches under way and waiting fail. Safe to call twice. */
  close(): Promise<void>
}

/**
 * Threads that parse, started when first needed. A thread that crashes or overruns `fileLimitMs` on a file is replaced:
 * that file is unreadable, the rest of its batch is parsed again. One that holds too much memory after a file is replaced
 * as well. `threads: 0` means one per core.
 */
export function openParsePool(options: { threads: number; fileLimitMs?: number }): ParsePool {
  const threads = options.threads === 0 ? availableParallelism() : options.threads
  const lender = openThreadLender(threads, () => openThreadLink(options.fileLimitMs ?? 10_000))

  async function parse(jobs: readonly ParseJob[]): Promise<ParseResult[]> {
    const results = new Map<ParseJob, ParseResult>()
    for (;;) {
      const left = jobs.filter((job) => !results.has(job))
      if (left.length === 0) break
      const ending = await lender.use((link) => link.run(left))
      if (ending.kind === 'answered') {
        for (const [at, result] of ending.results.entries()) setResult(results, left[at], result)
      } else if (ending.at < 0) {
        throw new AppError('DISC_005', `no file can be parsed: ${ending.why}`, { phase: 'discovery' })
      } else {
        setResult(results, left[ending.at], { kind: 'unreadable', reason: `DISC_005: ${ending.why}` })
      }
    }
    return jobs.flatMap((job) => results.get(job) ?? [])
  }

  return { threads, parse, close: lender.close }
}

function setResult(results: Map<ParseJob, ParseResult>, job: ParseJob | undefined, result: ParseResult): void {
  if (job !== undefined) results.set(job, result)
}
