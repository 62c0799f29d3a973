import type { Criterion, ItemCounts } from './agenda.ts'
import type { GateReport } from './gate.ts'

/** Holds what the composition of a run says: `kept` change sets of the item are in the patch. */
export type Composed = { kept: number; gate: Pick<GateReport, 'verdict' | 'failingTotal'> | undefined }

/**
 * Judges by code what operations that have ended came to, and what was composed of it, once that is known. `open`: only a model can tell, or the
 * gate of the run.
 */
export function judgeCriterion(
  criterion: Criterion,
  { left, change_sets: changeSets, findings }: ItemCounts,
  composed: Composed | null = null,
): 'met' | 'unmet' | 'open' {
  switch (criterion.kind) {
    case 'no_work_left':
      return left === 0 ? 'met' : 'unmet'
    case 'findings':
      return findings >= criterion.least ? 'met' : 'unmet'
    case 'proved_changes':
      return (composed?.kept ?? changeSets) >= criterion.least ? 'met' : 'unmet'
    case 'tests_pass':
      if (composed?.gate === undefined) return 'open'
      // It passes where nothing has become worse: a test that failed before may fail still.
      return composed.gate.verdict === 'passed' && composed.gate.failingTotal === 0 ? 'met' : 'unmet'
    case 'judged':
      return 'open'
  }
}
