import { changeSetId, type ChangeSet, type Edit, type FileChange } from '#domain/change-set.ts'
import { unreachable } from '#domain/unreachable.ts'
import type { SnapshotView } from '#objects/snapshot-view.ts'

/** What a change set was made on. */
export type ChangeSetBase = {
  snapshot: Pick<SnapshotView, 'find'>
  /** The length of a blob whose content has its hash; undefined when there is none (which is told elsewhere). */
  blobLength(hash: string): Promise<number | undefined>
}

/** What is wrong with a change set in itself and against its base, one phrase each. */
export async function changeSetFaults(set: ChangeSet, base: ChangeSetBase): Promise<string[]> {
  const faults: string[] = []
  if (set.changeSetId !== changeSetId(set.operationId, set.files)) faults.push('its id is not that of its changes')
  const paths = set.files.map((file) => file.path)
  for (const path of paths.filter((one, at) => paths.indexOf(one) !== at)) faults.push(`it changes ${path} twice`)
  for (const file of set.files) faults.push(...(await fileFaults(file, base)))
  return faults
}

async function fileFaults(file: FileChange, { snapshot, blobLength }: ChangeSetBase): Promise<string[]> {
  const held = snapshot.find(file.path)
  switch (file.kind) {
    case 'create':
      return held === undefined ? [] : [`it creates ${file.path}, which the snapshot has`]
    case 'edit':
    case 'delete': {
      if (held === undefined) return [`it changes ${file.path}, which the snapshot does not have`]
      if (held.hash !== file.baseHash) {
        return [`its base of ${file.path} is ${file.baseHash}, the snapshot has ${held.hash}`]
      }
      const length = await blobLength(file.baseHash)
      if (file.kind === 'delete' || length === undefined) return []
      return isInOrder(file.edits, length)
        ? []
        : [`its edits of ${file.path} are not sorted and inside ${length} bytes`]
    }
    default:
      return unreachable(file)
  }
}

/** Sorted, disjoint, no two insertions at one point, inside the base. */
function isInOrder(edits: readonly Edit[], length: number): boolean {
  let [at, lastWasInsertion] = [0, false]
  for (const { start, end } of edits) {
    const isInsertion = start === end
    const isFree = start > at || (start === at && !(isInsertion && lastWasInsertion))
    if (!isFree || end < start || end > length) return false
    ;[at, lastWasInsertion] = [end, isInsertion]
  }
  return true
}
