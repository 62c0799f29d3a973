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
import { indexIn } from './index-file.ts'
import { loadQueryPacks } from './query-pack.ts'

/**
 * Finds the code nodes that `folder` had at a revision of the repository it lies in, as `discoverFolder` finds those it has now; nothing
 * is checked out. Files that are tracked although .gitignore names them are included, and line ends are those of git's objects. DISC_005
 * for an unknown revision, CONFIG_006 without git.
 */
export async function discoverRevision(
  folder: string,
  revision: string,
  options: FolderOptions,
  signal: AbortSignal,
): Promise<Discovery> {
  const start = performance.now()
  const packs = await loadQueryPacks(options.packs)
  const from = { folder, env: gitEnv(options.env ?? {}), signal }
  const git = await openGitRevision(from, revision)
  const { files, skipped, read } = git
  try {
    // What is in a revision is tracked: no .gitignore counts against it.
    // One index for all revisions of a folder, most of whose files are the same. A file's state is its blob id in git.
    const states = new Map(files.map(({ path, hash }) => [path, hash]))
    const known = await indexIn(options.indexDir, `git ${resolve(folder)}`, states)
    const discovery = await discoverListed({ files, skipped, read, known }, packs, options, signal)
    return { ...discovery, durationMs: msSince(start) }
  } finally {
    git.close()
  }
}

const run = promisify(execFile)
type GitFolder = { folder: string; env: Env; signal: AbortSignal }
const maxListingBytes = 1024 ** 3
const namedRevisions = 8

/** Lists the files of `revision` below `folder`. */
async function openGitRevision(from: GitFolder, revision: string) {
  const { folder, env, signal } = from
  const tree = await treeOf(from, revision)
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
  return { files, skipped, ...openBlobs(from) }
}

/** Git's modes: a symbolic link, and the link to a commit of another repository. */
function reasonOf(mode: string): string {
  if (mode === '160000') return 'submodule'
  return mode === '120000' ? 'symbolic link' : 'not a regular file'
}

/** Returns the name of the revision's tree. Refuses a revision that begins with a dash, which git would read as an option. */
async function treeOf(from: GitFolder, revision: string): Promise<string> {
  const { folder, env, signal } = from
  if (revision.startsWith('-')) throw await unknownRevision(from, revision)
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
    throw await unknownRevision(from, revision, error)
  }
}

async function unknownRevision(
  { folder, env, signal }: GitFolder,
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
 * Reads contents by one `git cat-file --batch` that runs until `close`, so that a thousand files cost no thousand processes. Many may be
 * requested at once. DISC_005 for an unknown name, and for all that wait when git ends.
 */
function openBlobs({ folder, env, signal }: GitFolder) {
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
      const request = waiting.shift()
      if (content === undefined) request?.reject(unreadable())
      else request?.resolve(content)
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
