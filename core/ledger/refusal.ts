import type { RunId } from '#domain/ids.ts'
import { AppError } from '#domain/error.ts'

/** Throws RUN_001 or RUN_005 for a script's `unknown` or `newer`; gives back every other answer. */
export function expectKnownRun(runId: RunId, answer: unknown): unknown {
  if (answer === 'unknown') throw unknownRun(runId)
  if (answer === 'newer') throw newerRun(runId)
  return answer
}

export function unknownRun(runId: RunId): AppError {
  return new AppError('RUN_001', `There is no run "${runId}".`)
}

export function newerRun(runId: RunId): AppError {
  return new AppError('RUN_005', `Run "${runId}" was made by a newer version of Remora; update this one to work on it.`)
}
