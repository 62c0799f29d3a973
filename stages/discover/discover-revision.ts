import { resolve } from 'node:path'
import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { msSince } from '#platform/clock.ts'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { gitEnv } from '#platform/child-env.ts'
import type { Env } from '#platform/env.ts'
import { gitSettings } from '#platform/run-program.ts'
import type { SourceFile } from './choose-files.ts'
import { discoverListed, type FolderOptions } from './discover-folder.ts'
import type { Discovery } from './discover-nodes.ts'
import { type IndexFile, indexPath, openIndexFile } from './index-file.ts'
import { loadQueryPacks } from './query-pack.ts'

/**
 * Finds the code nodes that `folder` had at a revision of the repository it lies in, as `discoverFolder` finds those it
 * has now; nothing is checked out. Errors as of `openGitRevision` and `discoverNodes`. Files that are tracked although
 * .gitignore names them are included, and line ends are those of git's objects.
 */
export async function discoverRevision(
  folder: string,
  revision: string,
  options: FolderOptions,
  signal: AbortSignal,
): Promise<Discovery> {
  const start = performance.now()
  const packs = await loadQueryPacks(options.packs)
  const place = { folder, env: gitEnv(options.env ?? {}), signal }
  const git = await openGitRevision(place, revision)
  const { files, skipped, read } = git
  try {
    // What is in a revision is tracked: no .gitignore counts against it.
    const known = await indexOf(options.indexDir, folder, files)
    const found = await discoverListed({ files, skipped, read, known }, packs, options, signal)
    return { ...found, durationMs: msSince(start) }
  } finally {
    git.close()
  }
}

/** One file for all revisions of a folder, most of whose files are the same. A file's state is its blob id in git. */
async function indexOf(
  dir: string | undefined,
  folder: string,
  files: readonly SourceFile[],
): Promise<IndexFile | undefined> {
  if (dir === undefined) return undefined
  return openIndexFile(indexPath(dir, `git ${resolve(folder)}`), new Map(files.map(({ path, hash }) => [path, hash])))
}

const run = promisify(execFile)
type GitPlace = { folder: string; env: Env; signal: AbortSignal }
const maxListingBytes = 1024 ** 3
const namedRevisions = 8

/** Lists the files of `revision` below `folder`. DISC_005 when there is no such revision (wrong usage); CONFIG_006 without git. */
async function openGitRevision(place: GitPlace, revision: string) {
  const { folder, env, signal } = place
  const tree = await treeOf(place, revision)
  const options = { cwd: folder, env, signal, maxBuffer: maxListingBytes }
  // Without --full-tree, the listing and its names are relative to the folder that git is started in.
  const { stdout } = await run('git', [...gitSettings, 'ls-tree', '-r', '-z', '-l', tree], options)
  const files: SourceFile[] = []
  const skipped: SkippedFile[] = []
  for (const entry of stdout.split('\0')) {
    const [, mode = '', hash = '', size = '', path] = /^(\d+) \w+ (\w+) +(\S+)\t(.*)$/s.exec(entry) ?? []
    if (path === undefined) continue
    if (mode.startsWith('100')) files.push({ path, hash, size: Number(size) })
    else skipped.push({ path, reason: reasonOf(mode) })
  }
  return { files, skipped, ...openBlobs(place) }
}

/** Git's modes: a symbolic link, and the link to a commit of another repository. */
function reasonOf(mode: string): string {
  if (mode === '160000') return 'submodule'
  return mode === '120000' ? 'symbolic link' : 'not a regular file'
}

/** The name of the revision's tree. A revision that begins with a dash is refused, since git would read it as an option. */
async function treeOf(place: GitPlace, revision: string): Promise<string> {
  const { folder, env, signal } = place
  if (revision.startsWith('-')) throw await unknownRevision(place, revision)
  const args = [...gitSettings, 'rev-parse', '--verify', '--quiet', `${revision}^{tree}`]
  try {
    const { stdout } = await run('git', args, { cwd: folder, env, signal })
    return stdout.trim()
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      const message = 'a revision needs git, which is not on the PATH: "remora doctor" says how to get it'
      throw new AppError('CONFIG_006', message)
    }
    throw await unknownRevision(place, revision, error)
  }
}

async function unknownRevision(
  { folder, env, signal }: GitPlace,
  revision: string,
  cause?: unknown,
): Promise<AppError> {
  const args = ['for-each-ref', '--sort=-creatordate', '--format=%(refname:short)', 'refs/heads', 'refs/tags']
  const options = { cwd: folder, env, signal }
  const { stdout } = await run('git', [...gitSettings, ...args], options).catch(() => ({ stdout: '' }))
  signal.throwIfAborted()
  const names = stdout.split('\n').filter((name) => name !== '')
  const more = names.length > namedRevisions ? ' …' : ''
  const known = names.length === 0 ? '' : `; it has ${names.slice(0, namedRevisions).join(', ')}${more}`
  const what = `"${revision}" is neither a folder, nor a file, nor a revision of the git repository that "${folder}" is in`
  return new AppError('DISC_005', `${what}${known}`, { cause, phase: 'usage' })
}

/**
 * Contents from one `git cat-file --batch` that runs until `close`, so that a thousand files cost no thousand processes.
 * Many may be requested at once; answers come in the order of the requests. DISC_005 for an unknown name; when git
 * itself ends, all requests still waiting fail with the same error.
 */
function openBlobs({ folder, env, signal }: GitPlace) {
  const git = spawn('git', [...gitSettings, 'cat-file', '--batch'], {
    cwd: folder,
    env,
    signal,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const waiting: PromiseWithResolvers<Uint8Array>[] = []
  let held: Buffer = Buffer.alloc(0)
  let ended = false
  const end = () => {
    ended = true
    for (const { reject } of waiting.splice(0)) reject(signal.aborted ? signal.reason : unreadable())
  }
  git.once('error', end).once('close', end)
  git.stdin.on('error', end)
  git.stdout.on('data', (bytes: Buffer) => {
    const answers = answersIn(Buffer.concat([held, bytes]))
    held = answers.rest
    for (const content of answers.contents) {
      const asked = waiting.shift()
      if (content === undefined) asked?.reject(unreadable())
      else asked?.resolve(content)
    }
  })
  const read = (hash: string) => {
    if (ended) return Promise.reject(unreadable())
    const answer = Promise.withResolvers<Uint8Array>()
    waiting.push(answer)
    git.stdin.write(`${hash}\n`)
    return answer.promise
  }
  return { read, close: () => void git.stdin.end() }
}

/** Cuts up the answers that are complete: `<name> blob <size>`, a line feed, so many bytes and a line feed; or `<name> missing`. */
function answersIn(bytes: Buffer): { contents: (Buffer | undefined)[]; rest: Buffer } {
  const contents: (Buffer | undefined)[] = []
  let rest = bytes
  for (let start = rest.indexOf('\n') + 1; start > 0; start = rest.indexOf('\n') + 1) {
    const size = / blob (\d+)\n$/.exec(rest.toString('latin1', 0, start))?.[1]
    const end = size === undefined ? start : start + Number(size) + 1
    if (rest.length < end) break
    contents.push(size === undefined ? undefined : rest.subarray(start, end - 1))
    rest = rest.subarray(end)
  }
  return { contents, rest }
}

function unreadable(): AppError {
  return new AppError('DISC_005', 'git cannot read the file', { phase: 'discovery' })
}
