import { applyEdits } from '#domain/apply-edits.ts'
import { changeSetId, type ChangeSet } from '#domain/change-set.ts'
import { composedEdits, fixFile } from '../../tools/lint/fix-file.ts'
import type { FixDeps, FixSet, LeftAlone } from '../../tools/lint/fix-set.ts'
import { agentParts } from '../../evidence/run-rules.ts'
import { utf16Ranges } from '../../tools/lint/text-fixes.ts'
import type { RunningAttempt } from '../attempt/running-attempt.ts'

/** The result of a mechanical operation: proven change sets, and what it left as it was. */
export type MechanicalWork = { sets: ChangeSet[]; fixed: { rules: string[]; count: number }[]; leftAlone: LeftAlone[] }

/**
 * Makes the safe lint fixes of the attempt's file, outside the nodes that agents of the run work on. No model is asked.
 * TOOL_006 for a file that cannot be linted.
 */
export async function makeLintFixes(
  { attempt, bundle, workspace, rules }: Pick<RunningAttempt, 'attempt' | 'bundle' | 'workspace' | 'rules'>,
  deps: FixDeps,
  signal: AbortSignal,
): Promise<MechanicalWork> {
  const { path } = attempt.node
  const source = await workspace.readText(path)
  const keepOut = utf16Ranges(source, rules.agentRanges(path))
  const within = utf16Ranges(source, [attempt.node])
  const checks = bundle.bundle.file.evidence.filter((check) => check !== 'only_node_changed')
  const file = { path, source, rules: rules.of(path), checks, keepOut, within }
  const { sets, leftAlone } = await fixFile(file, deps, signal)
  const base = workspace.baseHash(path)
  return {
    sets: sets.map((set) => changeSetOf(set, { attempt, base })),
    fixed: sets.map(({ rules: codes, fixed }) => ({ rules: codes, count: fixed })),
    leftAlone,
  }
}

function changeSetOf(set: FixSet, { attempt, base }: { attempt: RunningAttempt['attempt']; base: string }): ChangeSet {
  const { operationId, bundle, node } = attempt
  const files = [{ kind: 'edit' as const, path: node.path, baseHash: base, edits: set.edits }]
  const id = changeSetId(operationId, files)
  const { rules, evidence } = set
  return { changeSetId: id, operationId, bundle, nodeId: node.nodeId, files, rules, evidence }
}

/**
 * Makes the safe fixes in what the attempt's agent works on, before it begins: the agent is asked for the rest only. What
 * lies in the node and belongs to another node's agent is left to that one. Answers how many were made. Nothing is
 * done for nodes that the plan did not give to an agent for their faults.
 */
export async function fixBeforeAgent(
  { attempt, bundle, workspace, rules }: Pick<RunningAttempt, 'attempt' | 'bundle' | 'workspace' | 'rules'>,
  deps: FixDeps,
  signal: AbortSignal,
): Promise<number> {
  const { path } = attempt.node
  const { mechanical, evidence: checks } = bundle.bundle.file
  const { own, others } = agentParts(rules, attempt)
  if (mechanical !== 'lint_fixes' || own.length === 0) return 0
  const source = await workspace.readText(path)
  const [keepOut, within] = [utf16Ranges(source, others), utf16Ranges(source, own)]
  const { sets } = await fixFile({ path, source, rules: rules.of(path), checks, keepOut, within }, deps, signal)
  const edits = composedEdits(sets)
  if (edits === undefined || edits.length === 0) return 0
  await workspace.writeText(path, Buffer.from(applyEdits(Buffer.from(source), edits)).toString())
  return sets.reduce((sum, { fixed }) => sum + fixed, 0)
}
