import { parentPort, workerData } from 'node:worker_threads'

export type ThreadReply<Report> = { report: Report; isSpent: boolean }

/** [0]: the thread's item, or what it does instead; [1]: since when (ms); [2]: its CPU time until then (µs). */
export type ThreadProgress = BigInt64Array<SharedArrayBuffer>

const betweenItems = -1
const starting = -2

export function newProgress(): ThreadProgress {
  const progress = new BigInt64Array(new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT))
  mark(progress, starting, { user: 0, system: 0 })
  return progress
}

function mark(progress: ThreadProgress, item: number, { user, system } = process.threadCpuUsage()): void {
  Atomics.store(progress, 2, BigInt(user + system))
  Atomics.store(progress, 1, BigInt(Date.now()))
  Atomics.store(progress, 0, BigInt(item))
}

export type ThreadState = { hasStarted: boolean; item: number; forMs: number; cpuMs: number }

/** The item a thread works on (-1: none), for how many milliseconds, and how much processor time it had used before. */
export function readProgress(progress: ThreadProgress): ThreadState {
  const item = Number(Atomics.load(progress, 0))
  const forMs = Date.now() - Number(Atomics.load(progress, 1))
  const cpuMs = Number(Atomics.load(progress, 2)) / 1000
  return { hasStarted: item !== starting, item: Math.max(item, betweenItems), forMs, cpuMs }
}

/** Time left for what a thread is doing; no limit between two items: no request is to blame for that wait. */
export function leftMs(
  { hasStarted, item, forMs }: Omit<ThreadState, 'cpuMs'>,
  limits: { limitMs: number; startLimitMs: number },
): number {
  if (!hasStarted) return limits.startLimitMs - forMs
  return item === betweenItems ? Infinity : limits.limitMs - forMs
}

/**
 * Answers this thread's requests in order. `answer` calls `begin` with each item, for its time limit and the blame. What it
 * throws ends the thread, since native code may be damaged.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- callers name their protocol: messages are untyped
export function answerRequests<Question, Report>(
  answer: (question: Question, begin: (item: number) => void) => Report | Promise<Report>,
  isSpent: () => boolean = () => false,
): void {
  const progress: ThreadProgress = workerData
  let before: Promise<void> = Promise.resolve()
  const answerNext = async (question: Question) => {
    const report = await answer(question, (item) => mark(progress, item))
    mark(progress, betweenItems)
    parentPort?.postMessage({ report, isSpent: isSpent() } satisfies ThreadReply<Report>)
  }
  mark(progress, betweenItems)
  parentPort?.on('message', (question: Question) => {
    before = before.then(() => answerNext(question))
  })
}
