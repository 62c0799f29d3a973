import { failedOperations, type ProgressState } from '../progress/progress-state.ts'

/**
 * 0 done; 1 the run did not complete, or nothing in it came to a good end; 3 some operations failed (contract.md §1).
 * The patch of a retry may hold what the runs before it did: then there is something good, though it did nothing.
 */
export function exitCodeOf(runStatus: string, state: ProgressState): 0 | 1 | 3 {
  if (runStatus !== 'completed') return 1
  if (failedOperations(state) === 0) return 0
  const wentWell = Object.values(state.agents).some(({ succeeded, unchanged }) => succeeded + unchanged > 0)
  return wentWell || state.patchFiles > 0 ? 3 : 1
}
