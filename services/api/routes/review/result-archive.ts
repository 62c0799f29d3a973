import { sha256 } from '#domain/ids.ts'
import { byPath } from '#domain/repo-path.ts'
import { changedFiles, type ComposedFile, type Composition } from '#store/objects/composition.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import { gzippedTar, type TarItem } from '#platform/gzipped-tar.ts'

/** `side`: as the files are after the changes, or were before them. */
export type ArchiveChoice = { files: 'all' | 'changed'; side: 'after' | 'before' }

/** An archive is made of this. `snapshot` has the modes and links of the tree, and the files that nobody has changed. */
export type ArchiveSource = {
  composition: Pick<Composition, 'files'>
  snapshot: Pick<SnapshotView, 'files' | 'links' | 'find'>
  readBlob(hash: string): Promise<Uint8Array>
}

/** Null when only changed files were asked for and there are none. STORE_003 for a missing file is thrown before the first part. */
export function archiveOf(
  { composition, snapshot, readBlob }: ArchiveSource,
  choice: ArchiveChoice,
): AsyncGenerator<Uint8Array> | null {
  const changed = changedFiles(composition)
  if (choice.files === 'changed' && changed.length === 0) return null
  return gzippedTar(itemsOf(entriesOf(changed, snapshot, choice), readBlob))
}

/** Names what a composition changes: the same for all archives of it, another one after a decision that matters to it. */
export function compositionId(composition: Pick<Composition, 'files'>): string {
  const files = changedFiles(composition).toSorted(byPath)
  const named = files.map(({ path, baseHash, resultHash, executable = null }) => [
    path,
    baseHash,
    resultHash,
    executable,
  ])
  return sha256(JSON.stringify(named))
}

type Entry = { path: string } & ({ hash: string; executable: boolean } | { target: string })

function entriesOf(
  changed: readonly ComposedFile[],
  snapshot: ArchiveSource['snapshot'],
  { files, side }: ArchiveChoice,
): Entry[] {
  const entries = new Map<string, Entry>()
  if (files === 'all') for (const entry of [...snapshot.files, ...snapshot.links]) entries.set(entry.path, entry)
  for (const { path, baseHash, resultHash, executable } of changed) {
    const hash = side === 'after' ? resultHash : baseHash
    const was = snapshot.find(path)?.executable === true
    if (hash === null) entries.delete(path)
    else entries.set(path, { path, hash, executable: side === 'after' ? (executable ?? was) : was })
  }
  return [...entries.values()].toSorted(byPath)
}

async function* itemsOf(entries: readonly Entry[], readBlob: ArchiveSource['readBlob']): AsyncGenerator<TarItem> {
  for (const entry of entries) {
    if ('target' in entry) yield { path: entry.path, target: entry.target }
    else yield { path: entry.path, executable: entry.executable, content: await readBlob(entry.hash) }
  }
}
