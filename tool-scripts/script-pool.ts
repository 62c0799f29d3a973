import type { Wrapper } from '#platform/run-program.ts'
import { AppError } from '#domain/error.ts'
import type { Log } from '#platform/log.ts'
import type { CompiledScript } from './compiled-script.ts'
import { checkedInputs, type ScriptCall, type ScriptRequest } from './script-call.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import type { ScriptEnding, SuspendedEnding } from './script-ending.ts'
import { watchRun } from './script-event.ts'
import { openScriptRunner, type ScriptRunner } from './script-runner.ts'
import { type ChosenLimits, fullJournal, journalSize, scriptLimits } from './script-limits.ts'

export type { ScriptEnding } from './script-ending.ts'

/** Says how a script ended, or that it waits for an answer, with all answers of the host in order. */
export type RunEnding = (ScriptEnding | SuspendedEnding) & { journal: readonly JournalEntry[] }

export type ScriptPool = {
  /**
   * Runs a script in one of the pool's processes. However the script ends, the promise resolves with an ending. It
   * rejects with AGENT_001 or TOOL_002 before anything has run, with the signal's reason, with an external's error
   * other than ScriptError, and with TOOL_004 for a value that cannot be sent to a process. When a process dies, only
   * the script that it was running ends; the others run again over their journals, so that nothing is done twice.
   */
  run(script: CompiledScript, request: ScriptRequest, signal: AbortSignal): Promise<RunEnding>
  pids(): number[]
  /** Ends the processes and rejects the calls in progress with AGENT_010. */
  close(): Promise<void>
}

/** Scripts that may share one process while they wait for the host. A script that computes delays the others. */
const maxCallsPerProcess = 32

type Pool = { runners: ScriptRunner[]; queue: ScriptCall[]; closed: boolean }

export type ScriptPoolOptions = {
  size: number
  limits?: ChosenLimits
  log?: Pick<Log, 'warn'>
  wrapper?: Wrapper | undefined
}

export function openScriptPool(options: ScriptPoolOptions): ScriptPool {
  const pool: Pool = { runners: [], queue: [], closed: false }
  pool.runners = Array.from({ length: options.size }, () =>
    openScriptRunner({
      log: options.log,
      wrapper: options.wrapper,
      onFree: () => dispatch(pool),
      requeue: (call) => requeue(pool, call),
    }),
  )
  let lastId = 0
  const begin: ScriptPool['run'] = async (script, request, signal) => {
    signal.throwIfAborted()
    if (pool.closed) throw closedError()
    const limits = scriptLimits({ ...options.limits, ...request.limits })
    const journalBytes = journalSize(request.journal ?? [])
    const inputs = checkedInputs(script, request, limits.valueBytes)
    return enter(pool, { ...request, id: (lastId += 1), script, inputs, limits, journalBytes }, signal)
  }
  return {
    run: (script, request, signal) => {
      const ending = begin(script, request, signal)
      ending.catch(() => {}) // no unhandled rejection when the caller awaits it only after the pool was closed
      return ending
    },
    pids: () => pool.runners.map((runner) => runner.pid()).filter((pid) => pid !== undefined),
    close: () => close(pool),
  }
}

type CallParts = Pick<ScriptCall, 'id' | 'script' | 'inputs' | 'externals' | 'limits' | 'journalBytes'> &
  Pick<ScriptRequest, 'journal' | 'onEvent'>

function enter(pool: Pool, { journal = [], onEvent, ...parts }: CallParts, signal: AbortSignal): Promise<RunEnding> {
  const { promise, resolve, reject } = Promise.withResolvers<RunEnding>()
  const settle = (end: () => void): void => {
    if (call.settled) return
    call.settled = true
    signal.removeEventListener('abort', abort)
    end()
  }
  const call: ScriptCall = {
    ...parts,
    journal: [...journal],
    starts: 0,
    lostProcesses: 0,
    reported: undefined,
    settled: false,
    resolve: (ending) =>
      settle(() => {
        watch?.ended(ending)
        resolve({ ...ending, journal: call.journal })
      }),
    reject: (error) =>
      settle(() => {
        watch?.rejected(error)
        reject(error)
      }),
  }
  const watch = onEvent === undefined ? undefined : watchRun(call, onEvent)
  const abort = (): void => {
    call.reject(signal.reason)
    for (const runner of pool.runners) runner.abandon(call)
  }
  signal.addEventListener('abort', abort, { once: true })
  const full = fullJournal({ calls: journal.length, size: call.journalBytes }, call.limits)
  if (full !== undefined) call.resolve(full)
  else pool.queue.push(call)
  dispatch(pool)
  return promise
}

function dispatch(pool: Pool): void {
  while (!pool.closed && pool.queue.length > 0) {
    const runner = pool.runners.reduce((least, other) => (other.load() < least.load() ? other : least))
    if (runner.load() >= maxCallsPerProcess) return
    const call = pool.queue.shift()
    if (call === undefined || call.settled) continue
    runner.start(call)
  }
}

function requeue(pool: Pool, call: ScriptCall): void {
  if (call.settled) return
  pool.queue.unshift(call)
  dispatch(pool)
}

async function close(pool: Pool): Promise<void> {
  pool.closed = true
  for (const call of [...pool.queue, ...pool.runners.flatMap((runner) => runner.calls())]) call.reject(closedError())
  await Promise.all(pool.runners.map((runner) => runner.close()))
}

function closedError(): AppError {
  return new AppError('AGENT_010', 'the script pool was closed')
}
