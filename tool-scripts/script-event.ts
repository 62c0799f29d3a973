import { asAppError } from '#domain/error.ts'
import { msSince } from '#platform/clock.ts'
import type { CompiledScript } from './compiled-script.ts'
import type { ScriptEnding, SuspendedEnding } from './script-ending.ts'

export type RunFigures = {
  /** Runs from acceptance by the pool to the ending, including all waiting. */
  wallMs: number
  /** Its own running time in the process in which it ended; absent when that process could not report it. */
  ownMs?: number
  /** Calls to externals, including those answered from a journal. */
  externalCalls: number
  printedChars?: number
  processes: number
}

/** The events of one run: `run_start`, then one of the others. `run_suspended`: the script asks a person. */
export type ScriptEvent =
  | { type: 'run_start'; path: string; inputs: number; externals: number; replayed: number }
  | ({ type: 'run_complete' | 'run_suspended'; path: string } & RunFigures)
  | ({ type: 'run_error'; path: string; code: string; limit?: string; error: string } & RunFigures)

/** Is called in the order of events and not awaited. What it throws is ignored. */
export type ScriptListener = (event: ScriptEvent) => void

type WatchedRun = {
  readonly script: CompiledScript
  readonly journal: readonly unknown[]
  readonly starts: number
  readonly reported: Pick<RunFigures, 'ownMs' | 'printedChars'> | undefined
}

/** Reports the start of the run to the listener, and its end when the pool calls the returned functions. */
export function watchRun(run: WatchedRun, listener: ScriptListener) {
  const startedAt = performance.now()
  const { path } = run.script
  const { inputs, externals } = run.script.declarations
  const report = (event: () => ScriptEvent): void => {
    try {
      listener(event())
    } catch {
      // a failing listener does not affect the run
    }
  }
  const begun = { path, inputs: inputs.length, externals: externals.length, replayed: run.journal.length }
  report(() => ({ type: 'run_start', ...begun }))
  const figures = (): RunFigures => ({
    wallMs: msSince(startedAt),
    externalCalls: run.journal.length,
    processes: run.starts,
    ...run.reported,
  })
  return {
    ended: (ending: ScriptEnding | SuspendedEnding) =>
      report(() => {
        if (ending.kind === 'returned') return { type: 'run_complete', path, ...figures() }
        if (ending.kind === 'suspended') return { type: 'run_suspended', path, ...figures() }
        return { type: 'run_error', path, ...faultOf(ending), ...figures() }
      }),
    rejected: (error: unknown) =>
      report(() => {
        const { code, message } = asAppError(error, 'TOOL_004')
        return { type: 'run_error', path, code, error: message, ...figures() }
      }),
  }
}

function faultOf(ending: Exclude<ScriptEnding, { kind: 'returned' }>) {
  if (ending.kind === 'raised') return { code: 'TOOL_004', error: `${ending.type}: ${ending.message}` }
  return { code: ending.code, ...('limit' in ending && { limit: ending.limit }), error: ending.message }
}
