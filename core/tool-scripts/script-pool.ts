import { AppError } from '#domain/error.ts'
import type { Log } from '#platform/log.ts'
import type { CompiledScript } from './compiled-script.ts'
import { checkedInputs, type ScriptCall, type ScriptRequest } from './script-call.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import { fullJournal } from './full-journal.ts'
import { journalSize } from './journal-size.ts'
import type { ScriptEnding } from './script-ending.ts'
import { watchRun } from './script-event.ts'
import { openScriptLane, type ScriptLane } from './script-lane.ts'
import { scriptLimits, type ChosenLimits } from './script-limits.ts'
import type { SuspendedEnding } from './script-suspended.ts'

export type { ScriptEnding } from './script-ending.ts'

/** How a script ended, or that it waits for a person, and all that the host answered it, in order. */
export type RunEnding = (ScriptEnding | SuspendedEnding) & { journal: readonly JournalEntry[] }

export type ScriptPool = {
  /**
   * Runs a script in one of the pool's processes. However the script ends is an ending; rejected with AGENT_001 or
   * TOOL_002 before anything ran, with the signal's reason when it is aborted, and with the error of an external that
   * was no ScriptError, or TOOL_004 where it could not be handed to a process. A process that dies takes only the script
   * it was running along; the others in it are run again over what the host has answered them, so that nothing is done
   * twice.
   */
  run(script: CompiledScript, request: ScriptRequest, signal: AbortSignal): Promise<RunEnding>
  /** The processes that run now. They start with the first script. */
  pids(): number[]
  /** Ends the processes and rejects what is under way with AGENT_010. Nothing is left when it resolves. */
  close(): Promise<void>
}

export type ScriptPoolOptions = {
  /** Processes, one core each at most. */
  size: number
  /** For calls that choose none. */
  limits?: ChosenLimits
  log?: Pick<Log, 'warn'>
}

/** Scripts that share one process while they wait for the host. A script that computes holds up the others. */
const maxCallsPerProcess = 32

type Pool = { lanes: ScriptLane[]; queue: ScriptCall[]; closed: boolean }

export function openScriptPool(options: ScriptPoolOptions): ScriptPool {
  const pool: Pool = { lanes: [], queue: [], closed: false }
  const lane = (): ScriptLane =>
    openScriptLane({ log: options.log, onFree: () => dispatch(pool), giveBack: (call) => giveBack(pool, call) })
  pool.lanes = Array.from({ length: options.size }, lane)
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
      ending.catch(() => {}) // who awaits it later, once the pool was closed, is told then
      return ending
    },
    pids: () => pool.lanes.map(({ pid }) => pid).filter((pid) => pid !== undefined),
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
    told: undefined,
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
    for (const lane of pool.lanes) lane.abandon(call)
  }
  signal.addEventListener('abort', abort, { once: true })
  const full = fullJournal({ calls: journal.length, size: call.journalBytes }, call.limits)
  if (full !== undefined) call.resolve(full)
  else pool.queue.push(call)
  dispatch(pool)
  return promise
}

/** Starts queued calls, oldest first, where the fewest are under way. */
function dispatch(pool: Pool): void {
  while (!pool.closed && pool.queue.length > 0) {
    const lane = pool.lanes.reduce((least, other) => (other.load < least.load ? other : least))
    if (lane.load >= maxCallsPerProcess) return
    const call = pool.queue.shift()
    if (call === undefined || call.settled) continue
    lane.start(call)
  }
}

/** Takes up again what lost its process. It goes first: it has waited before. */
function giveBack(pool: Pool, call: ScriptCall): void {
  if (call.settled) return
  pool.queue.unshift(call)
  dispatch(pool)
}

async function close(pool: Pool): Promise<void> {
  pool.closed = true
  for (const call of [...pool.queue, ...pool.lanes.flatMap((lane) => lane.calls())]) call.reject(closedError())
  await Promise.all(pool.lanes.map((lane) => lane.close()))
}

function closedError(): AppError {
  return new AppError('AGENT_010', 'the script pool was closed')
}
