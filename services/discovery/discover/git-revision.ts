import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import type { SourceFile } from './choose-files.ts'
import { openBlobs } from './git-blobs.ts'
import { gitSettings } from '#platform/git-settings.ts'

const run = promisify(execFile)
const maxListingBytes = 1024 ** 3
/** Of the branches and tags, where a revision is none. */
const namedRevisions = 8

/** The files of a revision below a folder of its repository, read from git's objects: nothing is checked out. */
export type GitRevision = {
  /** Their `hash` is git's name of the content. */
  files: SourceFile[]
  skipped: SkippedFile[]
  read(hash: string): Promise<Uint8Array>
  close(): void
}

/**
 * Opens `revision` of the repository that `folder` lies in; paths are relative to `folder`. DISC_005 when there is no
 * repository, or the revision names nothing in it (wrong usage); CONFIG_006 without git. It is to be closed.
 */
export async function openGitRevision(folder: string, revision: string, signal: AbortSignal): Promise<GitRevision> {
  const tree = await treeOf(folder, revision, signal)
  const options = { cwd: folder, signal, maxBuffer: maxListingBytes }
  // Without --full-tree, what is listed and how it is called is relative to the folder git is started in.
  const { stdout } = await run('git', [...gitSettings, 'ls-tree', '-r', '-z', '-l', tree], options)
  const files: SourceFile[] = []
  const skipped: SkippedFile[] = []
  for (const entry of stdout.split('\0')) {
    const [, mode = '', hash = '', size = '', path] = /^(\d+) \w+ (\w+) +(\S+)\t(.*)$/s.exec(entry) ?? []
    if (path === undefined) continue
    if (mode.startsWith('100')) files.push({ path, hash, size: Number(size) })
    else skipped.push({ path, reason: reasonOf(mode) })
  }
  return { files, skipped, ...openBlobs(folder, signal) }
}

/** Git's modes: a symbolic link, and the link to a commit of another repository. */
function reasonOf(mode: string): string {
  if (mode === '160000') return 'submodule'
  return mode === '120000' ? 'symbolic link' : 'not a regular file'
}

/** The name of the revision's tree. A revision that begins with a dash would be an option to git: it is none. */
async function treeOf(folder: string, revision: string, signal: AbortSignal): Promise<string> {
  if (revision.startsWith('-')) throw await unknownRevision(folder, revision, signal)
  const args = [...gitSettings, 'rev-parse', '--verify', '--quiet', `${revision}^{tree}`]
  try {
    const { stdout } = await run('git', args, { cwd: folder, signal })
    return stdout.trim()
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new AppError(
        'CONFIG_006',
        'a revision needs git, which is not on the PATH: "remora doctor" says how to get it',
      )
    }
    throw await unknownRevision(folder, revision, signal, error)
  }
}

/** Names the branches and tags there are, those with the newest commits first. */
async function unknownRevision(
  folder: string,
  revision: string,
  signal: AbortSignal,
  cause?: unknown,
): Promise<AppError> {
  const args = ['for-each-ref', '--sort=-creatordate', '--format=%(refname:short)', 'refs/heads', 'refs/tags']
  const { stdout } = await run('git', [...gitSettings, ...args], { cwd: folder, signal }).catch(() => ({ stdout: '' }))
  signal.throwIfAborted()
  const names = stdout.split('\n').filter((name) => name !== '')
  const more = names.length > namedRevisions ? ' …' : ''
  const known = names.length === 0 ? '' : `; it has ${names.slice(0, namedRevisions).join(', ')}${more}`
  const what = `"${revision}" is neither a folder, nor a file, nor a revision of the git repository that "${folder}" is in`
  return new AppError('DISC_005', `${what}${known}`, { cause, phase: 'usage' })
}
