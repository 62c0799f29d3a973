import { undefinedOn } from '#domain/error.ts'
import type { Outcome } from '#domain/operation.ts'
import { lintNode, type LintDeps } from '../tools/lint/lint-node.ts'
import type { RunningAttempt } from '../attempt/running-attempt.ts'

type Worked = Pick<RunningAttempt, 'bundle' | 'isGone' | 'target' | 'workspace'>

/**
 * Tells whether what an operation was planned for is not proved to be done. Faults are looked for once more: an earlier operation may have mended
 * them, or this one only some. Of what else a bundle looks for, an operation that has changed nothing has done nothing.
 */
export async function leavesWork(
  { bundle, isGone, target, workspace }: Worked,
  { status }: Pick<Outcome, 'status'>,
  deps: LintDeps,
): Promise<boolean> {
  const { when } = bundle.bundle.file
  if (isGone) return false
  if (status !== 'succeeded' && status !== 'unchanged') return true
  if (when === 'always') return false
  if (when !== 'lint_faults') return status === 'unchanged'
  // What it has changed and does not submit is thrown away.
  if (status === 'unchanged' && (await workspace.changes()).length > 0) return true
  const lint = await lintNode(target, deps).catch(undefinedOn('TOOL_006'))
  return lint?.diagnostics.length !== 0
}
