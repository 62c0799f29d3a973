import type { FileResult } from '#composition/changes-at-path.ts'
import { composeChangeSets, type KnownSets } from '#composition/compose-change-sets.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { SnapshotView } from '#objects/snapshot.ts'
import type { ReadFile } from '../evidence/samples-match.ts'
import { contentsOf } from './file-proofs.ts'

type ComposedTreeDeps = {
  known: KnownSets
  snapshot(): Promise<Pick<SnapshotView, 'find'>>
  readBlob(hash: string): Promise<Uint8Array>
}

/**
 * Reads files of the repository as all of `sets` together make it, for checks that look at more than one file. Nothing is composed, and
 * no snapshot read, before the first file is asked for.
 */
export function readComposed(sets: readonly ChangeSet[], deps: ComposedTreeDeps): ReadFile {
  let composed: ReadonlyMap<string, FileResult> | undefined
  return async (path) => {
    composed ??= new Map(composeChangeSets(sets, deps.known).files.map((file) => [file.path, file]))
    const changed = composed.get(path)
    if (changed !== undefined) return (await contentsOf(changed, deps)).after?.toString()
    const file = (await deps.snapshot()).find(path)
    return file && Buffer.from(await deps.readBlob(file.hash)).toString()
  }
}
