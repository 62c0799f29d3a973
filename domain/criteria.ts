import type { Criterion, ItemCounts } from './agenda.ts'

/** Judges by code what operations that have ended came to. `open`: only a model, or the gate of the run, can tell. */
export function judgeCriterion(
  criterion: Criterion,
  { ended, change_sets: changeSets, findings }: ItemCounts,
): 'met' | 'unmet' | 'open' {
  switch (criterion.kind) {
    case 'no_work_left':
      return ended.failed + ended.blocked + ended.skipped + ended.cancelled === 0 ? 'met' : 'unmet'
    case 'findings':
      return findings >= criterion.least ? 'met' : 'unmet'
    case 'proved_changes':
      return changeSets >= criterion.least ? 'met' : 'unmet'
    case 'tests_pass':
    case 'judged':
      return 'open'
  }
}
