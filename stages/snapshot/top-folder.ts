import { AppError } from '#domain/error.ts'
import { submodulePaths } from '#domain/foreign-paths.ts'
import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { maxRuleBytes } from '#platform/git-ignore.ts'
import type { SkippedFile } from '#domain/code-node.ts'
import type { ArchiveContents } from './archive-contents.ts'
import type { ArchiveEntry } from './archive-source.ts'

/**
 * The entries without the one folder that a code host puts around all of them. INTAKE_001 for an archive that has none, or more than
 * that at its top.
 */
export async function* withoutTopFolder(entries: AsyncIterable<ArchiveEntry>): AsyncGenerator<ArchiveEntry> {
  let top: string | undefined
  for await (const entry of entries) {
    const { first, rest } = parted(entry.name)
    top ??= first
    const isTop = rest === ''
    if (first !== top || first === '.' || first === '..' || first === '' || (isTop && entry.type !== 'directory')) {
      throw new AppError('INTAKE_001', 'the archive of the code host does not have one folder with everything in it')
    }
    if (isTop) continue
    // The target of a hard link counts from the root of the archive, that of a symbolic link from its own folder.
    const target = entry.type === 'link' ? targetIn(top, entry.target) : entry.target
    yield { ...entry, name: rest, target }
  }
  if (top === undefined) throw new AppError('INTAKE_001', 'the archive of the code host is empty')
}

function parted(name: string): { first: string; rest: string } {
  const at = name.indexOf('/')
  return at === -1
    ? { first: name, rest: '' }
    : { first: name.slice(0, at), rest: name.slice(at + 1).replace(/^\/+/, '') }
}

function targetIn(top: string, target: string): string {
  const { first, rest } = parted(target)
  return first === top ? rest : `../${target}`
}

/** Is true when the content of a file of this path and size names the submodules. */
export function namesSubmodules(path: string, size: number): boolean {
  return path === '.gitmodules' && size <= maxRuleBytes
}

const submoduleReason = 'a submodule: its code is in another repository'

/** The submodules that a file `.gitmodules` at the root names: a code host's archive has their folders, with nothing in them. */
export function emptySubmodules(gitmodules: string, { paths, files, links }: ArchiveContents): SkippedFile[] {
  const named = [...new Set(submodulePaths('', gitmodules))].filter((path) => paths.hasFolder(path))
  if (named.length === 0) return []
  const inUse = new Set([...files.values(), ...links].flatMap(({ path }) => foldersUp(folderOf(path))))
  return named.filter((path) => !inUse.has(path)).map((path) => ({ path, reason: submoduleReason }))
}
