import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { Conflict } from '#objects/composition.ts'
import { conflictView } from '#objects/conflict-view.ts'
import type { ChangeView } from './change-schema.ts'
import { unifiedDiff, type FileVersions } from './unified-diff.ts'

export type ChangeDetails = {
  /** What the operation worked on. */
  node: Pick<CodeNode, 'path' | 'qualifiedName'>
  versions: readonly FileVersions[]
  conflicts: readonly Conflict[]
}

export function changeView(changeSet: ChangeSet, { node, versions, conflicts }: ChangeDetails): ChangeView {
  const conflict = conflicts.find((entry) => entry.changeSetId === changeSet.changeSetId)
  return {
    change_set_id: changeSet.changeSetId,
    operation_id: changeSet.operationId,
    agent: changeSet.bundle,
    node_id: changeSet.nodeId,
    path: node.path,
    qualified_name: node.qualifiedName,
    rules: changeSet.rules,
    files: changeSet.files.map(({ path, kind }) => ({ path, kind })),
    diff: Buffer.concat(versions.map(unifiedDiff)).toString(),
    evidence: changeSet.evidence,
    verdict: 'pending',
    conflict: conflict && conflictView(conflict),
  }
}
