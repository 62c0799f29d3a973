import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChaosStack, type ChaosStack, type ChaosStackOptions } from './chaos-stack.ts'
import { drawHistory, type History } from './draw-history.ts'
import { failureText, historyLine } from './chaos-report.ts'
import { runHistory, type HistoryOutcome } from './run-history.ts'

export type ChaosOptions = {
  /** Of the first history; the next has the next number. */
  seed: number
  runs: number
  /** On machines of their own, with faults of the network between them. */
  machines?: boolean
  /** Whether histories have pushes; undefined: one in three. */
  pushes?: boolean | undefined
  /** Whether runs have objectives; undefined: in one history of three. */
  objectives?: boolean | undefined
  print(line: string): void
  signal?: AbortSignal
}

/** One stack serves so many histories; then a fresh one, so that data of the last do not slow down the checks. */
const historiesPerStack = 25

/**
 * Plays `runs` histories one after another, and prints a line for each. They share one set of processes; after a history with
 * violations the stack is stopped, its folder stays, and the next history gets a fresh one. Ends early when `signal` is
 * aborted, without the result of the running history.
 */
export async function runChaos({
  seed,
  runs,
  machines = false,
  pushes,
  objectives,
  print,
  signal,
}: ChaosOptions): Promise<HistoryOutcome[]> {
  const outcomes: HistoryOutcome[] = []
  let open: OpenStack | undefined
  try {
    for (let at = 0; at < runs; at += 1) {
      open ??= await openStack({ machines })
      // What stops this process may have stopped its stores, too: the running history may never end.
      const outcome = await Promise.race([
        play(drawHistory(seed + at, { machines, pushes, objectives }), open.stack),
        whenAborted(signal),
      ])
      if (outcome === undefined) break
      outcomes.push(outcome)
      print(historyLine(outcome))
      const failed = outcome.violations.length > 0
      if (failed) print(failureText(outcome, open.dir))
      if (!failed && (at + 1) % historiesPerStack !== 0) continue
      await open.close({ keepFolder: failed })
      open = undefined
    }
    return outcomes
  } finally {
    await open?.close({ keepFolder: false })
  }
}

function whenAborted(signal: AbortSignal | undefined): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve(undefined)
    signal?.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}

type OpenStack = { stack: ChaosStack; dir: string; close(options: { keepFolder: boolean }): Promise<void> }

async function openStack(options: ChaosStackOptions): Promise<OpenStack> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-chaos-'))
  const stack = await startChaosStack(dir, options).catch((cause: unknown) => {
    throw new Error(`the stack did not start; its logs are in ${dir}`, { cause })
  })
  return {
    stack,
    dir,
    async close({ keepFolder }) {
      await stack.close()
      if (!keepFolder) await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** A history that cannot be played to its end is a violation, too. */
async function play(history: History, stack: ChaosStack): Promise<HistoryOutcome> {
  const startedAt = performance.now()
  try {
    return await runHistory(history, stack)
  } catch (error) {
    const violations = [`the history broke off: ${error instanceof Error ? error.stack : String(error)}`]
    const durationMs = Math.round(performance.now() - startedAt)
    const nothing = {
      met: [],
      runs: [],
      operations: 0,
      retried: 0,
      lost: 0,
      answered: 0,
      deferred: 0,
      network: undefined,
      host: undefined,
    }
    return { history, ...nothing, durationMs, violations }
  }
}
