import { availableParallelism } from 'node:os'
import { type Transferable, Worker } from 'node:worker_threads'
import { AppError } from '#domain/error.ts'
import { ownChildEnv } from './child-env.ts'
import { after } from './clock.ts'
import { leftMs, newProgress, readProgress, type ThreadProgress, type ThreadReply } from './thread-entry.ts'

export type ThreadOptions = {
  entry: URL
  /** Is shown in error messages and, its first 15 characters, in the system's list of threads. */
  name: string
  work?: string
  /** Processor time for each item of a request. By the clock it may take ten times as long, on a machine that is busy with other things. */
  limitMs: number
  startLimitMs?: number
  memoryMb?: number
  /** `inherited`: a copy of this process's, for libraries that look for their settings there; `bare` by default. */
  env?: 'bare' | 'inherited'
  /** Is called before the thread starts. */
  beforeStart?: (() => void) | undefined
  /** Takes what the thread writes to stderr; without it, that goes to this process's. */
  writeErrors?: ((text: string) => void) | undefined
}

export type PoolOptions = ThreadOptions & {
  /** Bounds the threads; 0: one per core. */
  threads: number
  /** Bounds the requests that a thread is given at once. Those behind the first wait in it, so it never waits for this process. */
  requestsPerThread?: number
  /** Ends a thread that was asked nothing for so long, with its memory; the next request starts another. None ends by default. */
  idleMs?: number
}

/** The report of the thread, or at which item of the request it ended (-1: before the first), and why. */
export type ThreadAnswer<Report> = { kind: 'report'; report: Report } | { kind: 'lost'; item: number; why: string }

export type ThreadPool<Question, Report> = {
  threads: number
  /**
   * Answers in order on each thread. TOOL_004: it does not start; AGENT_010: the pool is closed. A question behind one that ends
   * its thread is asked again: transfer only what can be asked once, in a pool that is asked one question at a time.
   */
  ask(question: Question, transfer?: readonly Transferable[]): Promise<ThreadAnswer<Report>>
  /** Ends the threads; requests that are running or waiting fail. Safe to call twice. */
  close(): Promise<void>
}

/** Threads for work that may crash. A request that crashes its thread or takes too long is `lost`; those behind it go to a new thread. */
export function openThreadPool<Question, Report>(options: PoolOptions): ThreadPool<Question, Report> {
  const threads = options.threads === 0 ? availableParallelism() : options.threads
  const slots = openSlots<Question, Report>(options, threads)

  async function askOnce(question: Question, transfer: readonly Transferable[]): Promise<ThreadEnding<Report>> {
    const slot = await slots.take()
    let isUsable = false
    try {
      const ending = await slot.thread.ask(question, transfer)
      slots.throwIfClosed()
      if (ending.kind === 'report' && ending.isSpent) await slot.thread.close()
      isUsable = ending.kind === 'report' && !ending.isSpent
      return ending
    } catch (error) {
      slots.throwIfClosed()
      throw error
    } finally {
      slots.giveBack(slot, isUsable)
    }
  }
  return {
    threads,
    async ask(question, transfer = []) {
      for (;;) {
        const ending = await askOnce(question, transfer)
        if (ending.kind !== 'unread') return ending
      }
    },
    close: slots.close,
  }
}

type RunningThread<Question, Report> = { thread: Thread<Question, Report>; requests: number; stopIdling(): void }

function openSlots<Question, Report>(options: PoolOptions, threads: number) {
  const { name, requestsPerThread = Infinity, idleMs } = options
  const running = new Set<RunningThread<Question, Report>>()
  const waiting: PromiseWithResolvers<void>[] = []
  let closed = false
  const throwIfClosed = () => {
    if (closed) throw new AppError('AGENT_010', `${name} was closed`)
  }
  const end = (slot: RunningThread<Question, Report>) => {
    slot.stopIdling()
    running.delete(slot)
    return slot.thread.close()
  }
  return {
    throwIfClosed,
    /** A slot on the thread with the fewest requests; starts one when all are busy and there may be more. */
    async take(): Promise<RunningThread<Question, Report>> {
      for (;;) {
        throwIfClosed()
        let [chosen] = [...running].toSorted((left, right) => left.requests - right.requests)
        if (running.size < threads && (chosen === undefined || chosen.requests > 0)) {
          chosen = { thread: openThread<Question, Report>(options), requests: 0, stopIdling() {} }
          running.add(chosen)
        }
        if (chosen !== undefined && chosen.requests < requestsPerThread) {
          chosen.requests++
          chosen.stopIdling()
          return chosen
        }
        const turn = Promise.withResolvers<void>()
        waiting.push(turn)
        await turn.promise
      }
    },
    giveBack(slot: RunningThread<Question, Report>, isUsable: boolean) {
      slot.requests--
      if (!isUsable) running.delete(slot)
      else if (slot.requests === 0 && idleMs !== undefined && !closed)
        slot.stopIdling = after(idleMs, () => void end(slot))
      waiting.shift()?.resolve()
    },
    async close() {
      closed = true
      for (const turn of waiting.splice(0)) turn.resolve()
      await Promise.all([...running].map(end))
    },
  }
}

/** `unread`: another request ended the thread before this one's turn. */
type ThreadEnding<Report> =
  | { kind: 'report'; report: Report; isSpent: boolean }
  | Extract<ThreadAnswer<Report>, { kind: 'lost' }>
  | { kind: 'unread' }

/** After any ending but an unspent report, a thread is of no more use. */
type Thread<Question, Report> = {
  ask(question: Question, transfer: readonly Transferable[]): Promise<ThreadEnding<Report>>
  close(): Promise<void>
}

/** Unlimited, the young garbage alone may take 130 MB a thread. Needing more than `memoryMb` crashes the thread. */
function startWorker(options: ThreadOptions, progress: ThreadProgress): Worker {
  const { entry, name, memoryMb = 256, env = 'bare', writeErrors } = options
  const resourceLimits = { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 12 }
  const worker = new Worker(entry, {
    name,
    workerData: progress,
    resourceLimits,
    stderr: writeErrors !== undefined,
    ...(env === 'bare' ? { env: ownChildEnv() } : {}),
  })
  if (writeErrors !== undefined) worker.stderr.setEncoding('utf8').on('data', writeErrors)
  return worker
}

/** A thread may take this many times its limit by the clock, on a busy machine. */
const mostDelay = 10

/** Calls `end` with the reason when the thread takes too long, by what it has noted itself: this process may be too busy for its replies. */
function watchThread(
  { worker, progress }: { worker: Worker; progress: ThreadProgress },
  options: ThreadOptions,
  end: (why: string) => void,
): () => void {
  const { work = 'it', limitMs, startLimitMs = 30_000 } = options
  let stop = () => {}
  let isOver = false
  const lookAfter = (ms: number) => {
    stop()
    if (!isOver) stop = after(ms, look)
  }
  const look = () => {
    const at = readProgress(progress)
    const left = leftMs(at, { limitMs, startLimitMs })
    if (left > 0) return lookAfter(Math.min(left, limitMs))
    const limit = at.hasStarted ? limitMs : startLimitMs
    const what = at.hasStarted ? work : 'it'
    if (at.forMs >= mostDelay * limit) return end(`${what} took longer than ${mostDelay * limit} ms by the clock`)
    // A loop of native code gives no answer, so this looks again in any case.
    lookAfter(limit)
    const judge = ({ user, system }: NodeJS.CpuUsage) => {
      const now = readProgress(progress)
      const leftCpuMs = limit - ((user + system) / 1000 - now.cpuMs)
      if (isOver || now.hasStarted !== at.hasStarted || (now.hasStarted && now.item < 0)) return
      if (leftCpuMs <= 0) end(`${what} took longer than ${limit} ms`)
      else lookAfter(leftCpuMs)
    }
    void worker.cpuUsage().then(judge, () => {})
  }
  lookAfter(limitMs)
  return () => {
    isOver = true
    stop()
  }
}

function openThread<Question, Report>(options: ThreadOptions): Thread<Question, Report> {
  const { name } = options
  options.beforeStart?.()
  const progress = newProgress()
  const worker = startWorker(options, progress)
  const requests: PromiseWithResolvers<ThreadEnding<Report>>[] = []
  let fault = `${name} stopped`
  let timedOut: (typeof requests)[number] | undefined
  let stopWatch = () => {}
  let hasExited = false
  let isClosing = false

  const endLate = (why: string) => {
    timedOut = requests[0]
    fault = why
    void worker.terminate()
  }
  worker.on('message', (reply: ThreadReply<Report>) => {
    requests.shift()?.resolve({ kind: 'report', ...reply })
    if (requests.length === 0) stopWatch()
  })
  worker.on('error', (error) => (fault = `${name} crashed on it: ${error.message}`))
  worker.on('exit', () => {
    hasExited = true
    stopWatch()
    const { hasStarted, item } = readProgress(progress)
    const blamed = timedOut ?? requests[0] // replies may still come in after the time-out
    for (const request of requests.splice(0)) {
      if (!hasStarted) request.reject(new AppError('TOOL_004', `${name} does not start: ${fault}`))
      else request.resolve(request === blamed && !isClosing ? { kind: 'lost', item, why: fault } : { kind: 'unread' })
    }
  })
  return {
    async ask(question, transfer) {
      if (hasExited || timedOut !== undefined) return { kind: 'unread' }
      const request = Promise.withResolvers<ThreadEnding<Report>>()
      worker.postMessage(question, transfer)
      if (requests.push(request) === 1) stopWatch = watchThread({ worker, progress }, options, endLate)
      return request.promise
    },
    async close() {
      isClosing = true
      await worker.terminate()
    },
  }
}
