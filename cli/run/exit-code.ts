import type { RunView } from '../api-views.ts'
import { failedOperations, type ProgressState } from '../progress/progress-state.ts'

/** Of a run that failed for a language or a kind of nodes that the service does not know. */
const unknownFilters: ReadonlySet<string> = new Set(['DISC_003', 'RUN_002'])

/**
 * 0: done, also when there was nothing to do. 1: the run did not complete, or every operation failed. 2: it was asked for what
 * only the service could know to be wrong. 3: an operation failed or
 * was blocked, or a change set was left out of the patch. A retry whose patch holds what the runs before it did counts as
 * partly done when all of its own operations fail.
 */
export function exitCodeOf(
  { status, conflicts, error_code: code }: Pick<RunView, 'status' | 'conflicts' | 'error_code'>,
  state: ProgressState,
): 0 | 1 | 2 | 3 {
  if (status !== 'completed') return unknownFilters.has(code ?? '') ? 2 : 1
  if (failedOperations(state) === 0) return conflicts > 0 ? 3 : 0
  const wentWell = Object.values(state.agents).some(({ succeeded, unchanged }) => succeeded + unchanged > 0)
  return wentWell || state.patchFiles > 0 ? 3 : 1
}
