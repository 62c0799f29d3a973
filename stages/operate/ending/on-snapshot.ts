import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { ReadSet } from '#store/objects/attempt-record.ts'
import type { BuiltLayer } from '../workspace/built-layer.ts'
import type { Workspace } from '../workspace/open-workspace.ts'

/** Holds what an attempt started from besides the snapshot, and its node as it is in the snapshot. */
export type BuiltStart = { layer: BuiltLayer; node: CodeNode }

export type OnSnapshot = Pick<ChangeSet, 'files' | 'builtOn'>

/**
 * The changes of an attempt as changes of the snapshot, and the sets that they are built on, which are
 *
 * - sets of which the changes replace something,
 * - sets that changed the node,
 * - sets of agents that changed anything which the attempt has read.
 *
 * The changes hold without the safe fixes elsewhere in the file, so these are not among them.
 */
export function onSnapshot(
  { built, workspace }: { built: BuiltStart | undefined; workspace: Pick<Workspace, 'reads'> },
  changes: readonly FileChange[],
): OnSnapshot {
  if (built === undefined) return { files: [...changes] }
  const { sets } = built.layer
  const { files, replaced } = built.layer.onSnapshot(changes)
  const reads = workspace.reads()
  const needed = new Set<string>()
  for (const set of sets) {
    const changedNode = set.rules === undefined ? wasRead(set, reads) : isInNode(set, built.node)
    if (!replaced.has(set.changeSetId) && !changedNode) continue
    for (const id of [set.changeSetId, ...(set.builtOn ?? [])]) needed.add(id)
  }
  const builtOn = sets.map(({ changeSetId }) => changeSetId).filter((id) => needed.has(id))
  return { files, ...(builtOn.length === 0 ? {} : { builtOn }) }
}

/** Tells whether a set changes the node. An edit that only ends where it begins does not; an insertion at its end may. */
function isInNode({ files }: ChangeSet, { path, startByte, endByte }: CodeNode): boolean {
  const isInside = ({ start, end }: { start: number; end: number }) =>
    end > startByte && (start < endByte || (start === end && start === endByte))
  return files.some((file) => file.path === path && (file.kind !== 'edit' || file.edits.some(isInside)))
}

function wasRead({ files }: ChangeSet, { contents, listings, absences }: ReadSet): boolean {
  return files.some(({ path, kind }) => {
    if (Object.hasOwn(contents, path) || absences.includes(path)) return true
    return kind !== 'edit' && Object.hasOwn(listings, path.slice(0, Math.max(0, path.lastIndexOf('/'))))
  })
}
