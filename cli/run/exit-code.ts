import type { RunView } from '../api-views.ts'
import { failedOperations, type ProgressState } from '../progress/progress-state.ts'

/**
 * 0: done, also when there was nothing to do. 1: the run did not complete, or every operation failed. 3: an operation failed or
 * was blocked, or a change set was left out of the patch. A retry whose patch holds what the runs before it did counts as
 * partly done when all of its own operations fail.
 */
export function exitCodeOf(
  { status, conflicts }: Pick<RunView, 'status' | 'conflicts'>,
  state: ProgressState,
): 0 | 1 | 3 {
  if (status !== 'completed') return 1
  if (failedOperations(state) === 0) return conflicts > 0 ? 3 : 0
  const wentWell = Object.values(state.agents).some(({ succeeded, unchanged }) => succeeded + unchanged > 0)
  return wentWell || state.patchFiles > 0 ? 3 : 1
}
