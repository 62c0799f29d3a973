import { Worker } from 'node:worker_threads'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import { threadEnv } from '#platform/thread-env.ts'
import {
  markProgress,
  newProgress,
  type ParseReply,
  type ParseRequest,
  type ParseResult,
  readProgress,
} from './parse-messages.ts'
import type { QueryPack } from './query-pack.ts'
import type { ContentMark } from './unwanted/unwanted-content.ts'

/** What a file holds, or the absolute path of the file, which the thread then reads itself. */
export type Content = Uint8Array | { file: string }

/** A file to parse. Without a pack only the file node comes back; with a mark that is not admitted, none. */
export type ParseJob = { content: Content; pack: QueryPack | undefined; admitted?: readonly ContentMark[] }

/**
 * How a request ended: answered, the first of its jobs when the thread is `spent`, and all otherwise; or the thread is
 * gone, at job `at` (-1: before the first), and why.
 */
export type ThreadEnding =
  | { kind: 'answered'; results: ParseResult[]; spent: boolean }
  | { kind: 'lost'; at: number; why: string }

/** One parsing thread, for one request at a time. After `lost` or `spent` it is of no more use. */
export type ThreadLink = {
  /** Throws the AppError the thread answers with when a pack is at fault. Never keeps or changes the jobs' bytes. */
  run(jobs: readonly ParseJob[]): Promise<ThreadEnding>
  close(): Promise<void>
}

/**
 * How long a thread may still take over what it is at. Starting and loading grammars has no limit: a busy machine is no
 * fault of a file, packs have compiled before they come here, and a thread that dies is seen to.
 */
export function leftMs({ file, forMs }: { file: number; forMs: number }, fileLimitMs: number): number {
  return file < 0 ? Infinity : fileLimitMs - forMs
}

/**
 * What a parse leaves is dead when it is answered; without a limit the young alone may take 130 MB in each thread. A file
 * whose definitions take more than the old may costs the thread its life, too.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 512 }

/** Starts a thread. A file that takes longer than `fileLimitMs` costs it its life. */
export function openThreadLink(fileLimitMs: number): ThreadLink {
  const progress = newProgress()
  const worker = new Worker(new URL('./parse-thread.ts', import.meta.url), {
    workerData: progress,
    resourceLimits,
    env: threadEnv(),
  })
  let fault = 'the parsing thread stopped'
  worker.on('error', (error) => (fault = `the parser crashed: ${error.message}`))

  async function run(jobs: readonly ParseJob[]): Promise<ThreadEnding> {
    const ending = Promise.withResolvers<ThreadEnding>()
    markProgress(progress, -1)
    let stopWatch = () => {}
    const watch = () => {
      const left = leftMs(readProgress(progress), fileLimitMs)
      if (left > 0) {
        stopWatch = after(Math.min(left, fileLimitMs), watch)
        return
      }
      fault = `parsing took longer than ${fileLimitMs} ms`
      void worker.terminate()
    }
    const onReply = (reply: ParseReply) => {
      if ('results' in reply) ending.resolve({ kind: 'answered', ...reply })
      else ending.reject(new AppError(reply.failed.code, reply.failed.message, { phase: 'discovery' }))
    }
    const onExit = () => ending.resolve({ kind: 'lost', at: readProgress(progress).file, why: fault })
    worker.once('message', onReply).once('exit', onExit)
    stopWatch = after(fileLimitMs, watch)
    const request = packRequest(jobs)
    worker.postMessage(request, [request.bytes])
    return ending.promise.finally(() => {
      stopWatch()
      worker.off('message', onReply).off('exit', onExit)
    })
  }

  return {
    run,
    close: async () => {
      await worker.terminate()
    },
  }
}

/** Copies contents into one fresh buffer that can be transferred: a Buffer's own memory may be shared with others. */
function packRequest(jobs: readonly ParseJob[]): ParseRequest {
  const packs = [...new Set(jobs.flatMap((job) => (job.pack === undefined ? [] : [job.pack])))]
  const bytes = new ArrayBuffer(jobs.reduce((sum, { content }) => sum + ('file' in content ? 0 : content.length), 0))
  const target = new Uint8Array(bytes)
  let end = 0
  const files = jobs.map(({ content, pack, admitted = [] }) => {
    const packAt = pack === undefined ? null : packs.indexOf(pack)
    if ('file' in content) return { file: content.file, pack: packAt, admitted }
    const start = end
    target.set(content, start)
    end += content.length
    return { start, end, pack: packAt, admitted }
  })
  return { bytes, packs, files }
}
