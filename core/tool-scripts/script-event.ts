import { asAppError } from '#domain/error.ts'
import { msSince } from '#platform/clock.ts'
import type { CompiledScript } from './compiled-script.ts'
import type { ScriptEnding } from './script-ending.ts'
import type { SuspendedEnding } from './script-suspended.ts'

/** What one run of a script cost. */
export type RunFigures = {
  /** From its acceptance by the pool to its ending, waiting of every kind included. */
  wallMs: number
  /** Its own running time in the process it ended in; absent when that process could not tell. */
  ownMs?: number
  /** Calls to the host, those answered by a journal included. */
  externalCalls: number
  /** UTF-16 units, kept or not; absent as `ownMs`. */
  printedChars?: number
  /** More than one when a process ended under it. */
  processes: number
}

/** What happens to one run, for whoever watches it: `run_start` once, then one of the others. `run_suspended`: it asks a person. */
export type ScriptEvent =
  | { type: 'run_start'; path: string; inputs: number; externals: number; replayed: number }
  | ({ type: 'run_complete' | 'run_suspended'; path: string } & RunFigures)
  | ({ type: 'run_error'; path: string; code: string; limit?: string; error: string } & RunFigures)

/** Called in the order of events and not waited for; what it throws is dropped, since the run goes on without it. */
export type ScriptListener = (event: ScriptEvent) => void

/** What is watched, as it goes on. */
type WatchedRun = {
  readonly script: CompiledScript
  readonly journal: readonly unknown[]
  readonly starts: number
  readonly told: Pick<RunFigures, 'ownMs' | 'printedChars'> | undefined
}
type Watch = { ended(ending: ScriptEnding | SuspendedEnding): void; rejected(error: unknown): void }

/** Tells the listener that the call was accepted, and lets the pool say how it went. */
export function watchRun(run: WatchedRun, listener: ScriptListener): Watch {
  const startedAt = performance.now()
  const { path, declarations } = run.script
  const { inputs, externals } = declarations
  const tell = (event: () => ScriptEvent): void => {
    try {
      listener(event())
    } catch {
      // a listener is no part of the run
    }
  }
  const begun = { path, inputs: inputs.length, externals: externals.length, replayed: run.journal.length }
  tell(() => ({ type: 'run_start', ...begun }))
  const figures = (): RunFigures => ({
    wallMs: msSince(startedAt),
    externalCalls: run.journal.length,
    processes: run.starts,
    ...run.told,
  })
  return {
    ended: (ending) =>
      tell(() => {
        if (ending.kind === 'returned') return { type: 'run_complete', path, ...figures() }
        if (ending.kind === 'suspended') return { type: 'run_suspended', path, ...figures() }
        return { type: 'run_error', path, ...faultOf(ending), ...figures() }
      }),
    rejected: (error) =>
      tell(() => {
        const { code, message } = asAppError(error, 'TOOL_004')
        return { type: 'run_error', path, code, error: message, ...figures() }
      }),
  }
}

function faultOf(ending: Exclude<ScriptEnding, { kind: 'returned' }>): { code: string; limit?: string; error: string } {
  switch (ending.kind) {
    case 'raised':
      return { code: 'TOOL_004', error: `${ending.type}: ${ending.message}` }
    case 'stopped':
      return { code: ending.code, limit: ending.limit, error: ending.message }
    case 'crashed':
    case 'diverged':
      return { code: ending.code, error: ending.message }
  }
}
