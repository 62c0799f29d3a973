import { applyEdits, type ChangeSet, type FileChange } from '#domain/change-set.ts'
import { unreachable } from '#domain/error.ts'
import { countChangedLines, type FileVersions } from '#platform/unified-diff.ts'

/** Reads file contents of one project by their hash. */
export type ReadBlob = (hash: string) => Promise<Uint8Array>

/** A file of a change set before and after, against its own base. */
export async function versionsOf(file: FileChange, readBlob: ReadBlob): Promise<FileVersions> {
  const { path, executable } = file
  switch (file.kind) {
    case 'create':
      return { path, before: null, after: Buffer.from(file.content), executable }
    case 'delete':
      return { path, before: await readBlob(file.baseHash), after: null, executable }
    case 'edit': {
      const before = await readBlob(file.baseHash)
      return { path, before, after: applyEdits(before, file.edits), executable }
    }
    default:
      return unreachable(file)
  }
}

/** Counts the lines that a change set adds and removes together in each of its files, by path. */
export async function linesChangedBy(
  { files }: Pick<ChangeSet, 'files'>,
  readBlob: ReadBlob,
): Promise<Map<string, number>> {
  const counted = files.map(async (file) => {
    const { added, removed } = countChangedLines(await versionsOf(file, readBlob))
    return [file.path, added + removed] as const
  })
  return new Map(await Promise.all(counted))
}
