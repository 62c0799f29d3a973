import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { GitTree, PlannedFile } from '#domain/planned-commit.ts'
import { CommitId } from '#domain/repository-source.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { withoutLogins } from '#platform/hide-secrets.ts'
import type { BranchOrder, CodeHost, HostBranch, NewCommit, PublishedBranch } from './code-host.ts'
import { readOwnCommits } from './own-commits.ts'
import {
  findLogin,
  type Git,
  type GitOptions,
  type HostLogin,
  identityIn,
  openGit,
  type Remote,
  wordsOf,
} from './open-git.ts'

export type GitRemoteOptions = Omit<GitOptions, 'gitDir'> & {
  url: string
  /** Commits are made as whom git knows in this folder, which is the caller's. */
  cwd: string
  /** It is empty at first, and the caller removes it. */
  scratch: string
  /** A commit of a run is known by this trailer. */
  trailer: string
}

/** `findLogin` tells as whom git would ask there; undefined when it knows nobody. */
export type GitRemote = CodeHost & { findLogin(address: string): Promise<HostLogin | undefined> }

const tries = 4

/** git reaches the repository with the caller's own name and rights. Only objects are fetched, nothing is checked out. */
export async function openGitRemote(options: GitRemoteOptions): Promise<GitRemote> {
  const { url, scratch } = options
  requireHarmless(url)
  const gitDir = join(scratch, 'fetched.git')
  await mkdir(gitDir, { recursive: true })
  const git = openGit({ ...options, gitDir })
  await git.bytes(['init', '--quiet', '--bare', '--template=', '--object-format=sha1'], { failsAs: 'CONFIG_006' })
  const findIdentity = () => identityIn(options.cwd, options)
  const remote = { git, url, scratch, trailer: options.trailer, findIdentity }
  /** The check of what is pushed reads the same blobs again and again. */
  const blobs = openCachedAnswers<Buffer>({ maxSize: 64 * 1024 ** 2, sizeOf: ({ length }) => length })
  return {
    findBranch: (name) => findBranch(name, remote),
    readTree: (commit) => readTree(commit, remote),
    readBlob: (sha) => blobs.get(sha, () => git.bytes(['cat-file', 'blob', sha], { failsAs: 'HOST_004' })),
    compare: (before, after) => git.list(['diff-tree', '-r', '-z', '--name-only', '--no-renames', before, after]),
    publishBranch: (order) => publishBranch(order, remote),
    openChangeRequest: null,
    reportStatus: null,
    findLogin: (address) => findLogin(address, git),
  }
}

/** Throws CONFIG_003 for an address that git would take for an option or for a program to run. Git is also told to refuse such transports. */
function requireHarmless(url: string): void {
  const fault = url.startsWith('-')
    ? 'begins with "-"'
    : /^[\w+.-]+::/.test(url)
      ? 'names a program of git'
      : /[\p{Cc}]/u.test(url) || url === ''
        ? 'has no address that git takes'
        : undefined
  if (fault !== undefined) {
    throw new AppError('CONFIG_003', `${JSON.stringify(withoutLogins(url).slice(0, 200))} ${fault}`, { phase: 'usage' })
  }
}

const refLine = /^(?<sha>[0-9a-f]{40})\t(?<ref>.+)$/

async function listRefs(refs: readonly string[], { git, url }: Remote): Promise<Map<string, CommitId>> {
  const listed = await git.text(['ls-remote', '--', url, ...refs], { failsAs: 'HOST_002' })
  return new Map(
    listed.split('\n').flatMap((line): [string, string][] => {
      const { sha, ref } = refLine.exec(line)?.groups ?? {}
      return sha === undefined || ref === undefined ? [] : [[ref, sha]]
    }),
  )
}

async function findBranch(name: string | null, remote: Remote): Promise<HostBranch | undefined> {
  const { git, url } = remote
  if (name !== null) {
    const commit = (await listRefs([headOf(name)], remote)).get(headOf(name))
    return commit === undefined ? undefined : { name, commit }
  }
  const listed = await git.text(['ls-remote', '--symref', '--', url, 'HEAD'], { failsAs: 'HOST_002' })
  const branch = /^ref: refs\/heads\/(?<name>.+)\tHEAD$/m.exec(listed)?.groups?.['name']
  const commit = /^(?<sha>[0-9a-f]{40})\tHEAD$/m.exec(listed)?.groups?.['sha']
  return branch === undefined || commit === undefined ? undefined : { name: branch, commit }
}

function headOf(branch: string): string {
  return `refs/heads/${branch}`
}

/** Only this commit is fetched, not those before it. */
async function fetchCommit(commit: CommitId, { git, url }: Remote): Promise<void> {
  const { code } = await git.end(['cat-file', '-e', `${commit}^{tree}`])
  if (code === 0) return
  const flags = ['--quiet', '--depth=1', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules']
  await git.bytes(['fetch', ...flags, '--', url, commit], { failsAs: 'HOST_004' })
}

const treeEntry = /^(?<mode>\d{6}) \w+ (?<sha>[0-9a-f]{40})\t(?<path>.+)$/s

async function readTree(commit: CommitId, remote: Remote): Promise<GitTree> {
  await fetchCommit(commit, remote)
  const listed = await remote.git.list(['ls-tree', '-r', '-z', '--full-tree', commit])
  const entries = listed.flatMap((entry): [string, { mode: string; sha: string }][] => {
    const { mode, sha, path } = treeEntry.exec(entry)?.groups ?? {}
    return mode === undefined || sha === undefined || path === undefined ? [] : [[path, { mode, sha }]]
  })
  return new Map(entries)
}

async function publishBranch(order: BranchOrder, remote: Remote): Promise<PublishedBranch> {
  const { base, branch } = order
  await requireBranchName(branch, remote)
  await fetchCommit(base, remote)
  const trees = await writeTrees(order, remote)
  for (let tried = 0; tried < tries; tried++) {
    const now = (await listRefs([headOf(branch)], remote)).get(headOf(branch))
    const there = now === undefined ? [] : await readOwnCommits({ ...order, now }, remote)
    const isSame =
      there.length === trees.length &&
      there.every(({ tree, message }, at) => tree === trees[at] && message === order.commits[at]?.message.trim()) &&
      there[0]?.parent === base
    if (now !== undefined && isSame) return { head: now, result: 'unchanged' }
    const head = await writeCommits(order, trees, remote)
    if (await push({ head, branch, now }, remote)) return { head, result: now === undefined ? 'created' : 'updated' }
  }
  throw new AppError('HOST_001', `The branch ${branch} is moved by others again and again: try again in a moment.`)
}

async function requireBranchName(branch: string, { git }: Remote): Promise<void> {
  const { code } = await git.end(['check-ref-format', headOf(branch)])
  if (code === 0 && !branch.startsWith('-')) return
  throw new AppError('CONFIG_003', `${JSON.stringify(branch.slice(0, 200))} is no name of a branch`, { phase: 'usage' })
}

/** Makes the tree of each commit in an index of its own, and returns what git calls them. */
async function writeTrees({ base, commits }: BranchOrder, { git, scratch }: Remote): Promise<string[]> {
  const env = { GIT_INDEX_FILE: join(scratch, 'index') }
  await git.bytes(['read-tree', base], { env })
  const trees: string[] = []
  for (const [at, { files }] of commits.entries()) {
    const blobs = await writeBlobs(files, { git, folder: join(scratch, `files-${at}`) })
    const lines = files.map(({ path, executable }, index) => {
      const sha = blobs.get(index)
      const mode = executable ? '100755' : '100644'
      return sha === undefined ? `0 ${'0'.repeat(40)}\t${path}\0` : `${mode} ${sha}\t${path}\0`
    })
    // Deletions first: a file may take the place of a folder.
    const input = lines
      .toSorted((left, right) => Number(right.startsWith('0 ')) - Number(left.startsWith('0 ')))
      .join('')
    await git.bytes(['update-index', '-z', '--index-info'], { env, input, failsAs: 'PUBLISH_001' })
    trees.push(await git.text(['write-tree', '--missing-ok'], { env, failsAs: 'PUBLISH_001' }))
  }
  return trees
}

type Written = { git: Git; folder: string }

/** The names of the files on disk are ours. */
async function writeBlobs(files: readonly PlannedFile[], { git, folder }: Written): Promise<Map<number, string>> {
  await mkdir(folder, { recursive: true })
  const kept = files.flatMap(({ content }, at) => (content === null ? [] : [{ at, content }]))
  for (const { at, content } of kept) await writeFile(join(folder, String(at)), content)
  const input = kept.map(({ at }) => `${join(folder, String(at))}\n`).join('')
  const names = await git.text(['hash-object', '-w', '--no-filters', '--stdin-paths'], { input })
  const shas = names.split('\n')
  return new Map(kept.flatMap(({ at }, index) => (shas[index] === undefined ? [] : [[at, shas[index]]])))
}

/** Throws PUBLISH_001 unless the commits change just what they are to. */
async function writeCommits({ base, commits }: BranchOrder, trees: readonly string[], { git, findIdentity }: Remote) {
  const env = await findIdentity()
  let parent = base
  for (const [at, { message, files }] of commits.entries()) {
    const args = ['commit-tree', '-p', parent, '-F', '-', trees[at] ?? '']
    const commit = CommitId.parse(await git.text(args, { env, input: message, failsAs: 'WORK_006' }))
    await requireOnly({ files, message }, { parent, commit, git })
    parent = commit
  }
  return parent
}

async function requireOnly(
  { files }: NewCommit,
  { parent, commit, git }: { parent: string; commit: string; git: Git },
) {
  const listed = await git.list(['diff-tree', '-r', '-z', '--name-only', '--no-renames', parent, commit])
  const wanted = new Set(files.map(({ path }) => path))
  const odd = listed.find((path) => !wanted.delete(path)) ?? [...wanted][0]
  if (odd === undefined) return
  throw new AppError('PUBLISH_001', `${JSON.stringify(odd)} is not what the commit would change`)
}

type Push = { head: CommitId; branch: string; now: CommitId | undefined }

/** Is false when somebody else has moved the branch since. */
async function push({ head, branch, now = '' }: Push, remote: Remote): Promise<boolean> {
  const { git, url } = remote
  const ref = headOf(branch)
  const flags = ['--porcelain', '--no-verify', '--no-follow-tags', `--force-with-lease=${ref}:${now}`]
  const { code, out, err } = await git.end(['push', ...flags, '--', url, `${head}:${ref}`])
  if (code === 0) return true
  const there = (await listRefs([ref], remote)).get(ref)
  if (there === head) return true
  if (there !== (now === '' ? undefined : now)) return false
  const refused = /^!\t[^\t]*\t(?<why>.*)$/m.exec(out.toString())?.groups?.['why']
  throw new AppError('HOST_003', `The branch ${branch} is not taken: ${[refused ?? '', wordsOf(err)].join(' ').trim()}`)
}
