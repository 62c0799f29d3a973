import { foldersOf } from '#change-sets/independent-groups.ts'
import type { GitTree, PlannedFile } from '#domain/planned-commit.ts'
import { withoutIgnored } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'

const linkMode = '120000'
const submoduleMode = '160000'
/** No path can be below these: of folders, git lists only what is in them. */
const leafModes = new Set([linkMode, submoduleMode, '100644', '100755', '100664'])

export type FoldedTree = ReturnType<typeof openFoldedTree>

/** Finds paths as file systems do that know no case, so that nothing is written through a link or over another file anywhere. */
export function openFoldedTree(base: GitTree) {
  const entries = new Map<string, string>()
  const byName = new Map<string, Set<string>>()
  const below = new Map<string, Set<string>>()
  const add = (path: string, mode: string) => {
    entries.set(path, mode)
    getOrMake(byName, foldedPath(path), () => new Set()).add(path)
    for (const folder of foldersOf(foldedPath(path))) getOrMake(below, folder, () => new Set()).add(path)
  }
  const remove = (path: string) => {
    entries.delete(path)
    byName.get(foldedPath(path))?.delete(path)
    for (const folder of foldersOf(foldedPath(path))) below.get(folder)?.delete(path)
  }
  const at = (folded: string) => [...(byName.get(folded) ?? [])]
  const upTo = (path: string) => [...foldersOf(foldedPath(path)), foldedPath(path)].flatMap(at)
  const withMode = (path: string, wanted: string) => upTo(path).find((folder) => entries.get(folder) === wanted)
  for (const [path, { mode }] of base) if (leafModes.has(mode)) add(path, mode)
  return {
    /** Returns what takes it back. */
    apply(files: readonly PlannedFile[]): () => void {
      const before = files.map(({ path }) => [path, entries.get(path)] as const)
      for (const { path, content } of files) if (content === null) remove(path)
      for (const { path, content, executable } of files) {
        // A link or a submodule stays what it is, so that it is found at the path.
        const isFile = content !== null && entries.get(path)?.startsWith('100') !== false
        if (isFile) add(path, executable ? '100755' : '100644')
      }
      return () => {
        for (const [path, mode] of before) {
          remove(path)
          if (mode !== undefined) add(path, mode)
        }
      }
    },
    linkOn: (path: string) => withMode(path, linkMode),
    submoduleOn: (path: string) => withMode(path, submoduleMode),
    twinsOf: (path: string) => at(foldedPath(path)).filter((twin) => twin !== path),
    fileOn: (path: string) =>
      foldersOf(foldedPath(path))
        .flatMap(at)
        .find((parent) => entries.get(parent)?.startsWith('100') === true),
    /** A file for which the path would have to be a folder. */
    fileBelow: (path: string) => [...(below.get(foldedPath(path)) ?? [])].at(0),
  }
}

/** Returns a path, or a part of one, as such file systems compare it. */
export function foldedPath(path: string): string {
  // Through capitals, since some small letters have the same one.
  return withoutIgnored(path).normalize('NFC').toUpperCase().toLowerCase().normalize('NFC')
}
