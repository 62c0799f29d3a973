import type { Composition } from '#objects/composition.ts'
import { composedFile, type ReadBlob } from './change-files.ts'
import { unifiedDiff } from './unified-diff.ts'

/**
 * The patch of a composition, one file at a time in the order of their paths, so that only one file is in memory. Yields
 * nothing when nothing changed.
 */
export async function* proposedPatch(composition: Composition, readBlob: ReadBlob): AsyncGenerator<Uint8Array> {
  const files = composition.files.filter((file) => file.baseHash !== file.resultHash)
  for (const file of files.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))) {
    yield unifiedDiff(await composedFile(file, readBlob))
  }
}
