import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import { applyEdits } from '#domain/apply-edits.ts'
import { unreachable } from '#domain/unreachable.ts'
import type { ComposedFile } from '#objects/composition.ts'
import type { FileVersions } from './unified-diff.ts'

/** File contents of one project by their hash. */
export type ReadBlob = (hash: string) => Promise<Uint8Array>

/** The files of a change set before and after, each against its own base. */
export async function changedFiles(changeSet: ChangeSet, readBlob: ReadBlob): Promise<FileVersions[]> {
  return Promise.all(changeSet.files.map((file) => versionsOf(file, readBlob)))
}

/** A composed file before and after. */
export async function composedFile(file: ComposedFile, readBlob: ReadBlob): Promise<FileVersions> {
  const [before, after] = await Promise.all(
    [file.baseHash, file.resultHash].map(async (hash) => (hash === null ? null : readBlob(hash))),
  )
  return { path: file.path, before: before ?? null, after: after ?? null }
}

async function versionsOf(file: FileChange, readBlob: ReadBlob): Promise<FileVersions> {
  switch (file.kind) {
    case 'create':
      return { path: file.path, before: null, after: Buffer.from(file.content) }
    case 'delete':
      return { path: file.path, before: await readBlob(file.baseHash), after: null }
    case 'edit': {
      const before = await readBlob(file.baseHash)
      return { path: file.path, before, after: applyEdits(before, file.edits) }
    }
    default:
      return unreachable(file)
  }
}
