import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { CommitId } from '#domain/repository-source.ts'
import type { BranchOrder } from './code-host.ts'
import type { Remote } from './open-git.ts'

export type OwnCommit = { tree: string; parent: string; message: string }

type BranchNow = Pick<BranchOrder, 'branch' | 'baseBranch' | 'base' | 'written'> & { now: CommitId }

/** Each step fetches so many commits more, until it is known whose the commits are. */
const depths = [50, 1_000, 2 ** 31 - 1]

/** Returns the commits that the branch has beyond its base branch, oldest first. PUBLISH_002 when one is somebody else's. */
export async function readOwnCommits(order: BranchNow, remote: Remote): Promise<OwnCommit[]> {
  const { now, base, branch, baseBranch, written = [] } = order
  let foreign: Found | undefined
  for (const depth of depths) {
    await fetchHistory(order, depth, remote)
    const commits = await commitsBetween(base, now, remote)
    if (written.includes(now)) return commits
    const cut = await cutCommits(remote)
    foreign = commits.find(({ isOwn }) => !isOwn)
    if (foreign === undefined && !commits.some(({ sha }) => cut.has(sha))) return commits
    // What the base branch has may be further back than was fetched.
    if (cut.size === 0) break
  }
  const whose =
    foreign && `the commit ${foreign.sha.slice(0, 10)} of ${foreign.by} (${JSON.stringify(foreign.subject)})`
  const text = `The branch ${branch} has ${whose ?? 'commits of which nobody knows whose they are'}`
  throw new AppError('PUBLISH_002', `${text}, not on ${baseBranch}: nothing was pushed.`)
}

async function fetchHistory({ now, base }: BranchNow, depth: number, { git, url }: Remote): Promise<void> {
  const flags = ['--quiet', `--depth=${depth}`, '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules']
  await git.bytes(['fetch', ...flags, '--', url, base, now], { failsAs: 'HOST_004' })
}

type Found = OwnCommit & { sha: string; by: string; subject: string; isOwn: boolean }

async function commitsBetween(base: CommitId, now: CommitId, { git, trailer }: Remote): Promise<Found[]> {
  const trailers = `%(trailers:key=${trailer},valueonly,separator=%x20)`
  const fields = ['%H', '%T', '%P', '%an', '%cn', '%at', '%ct', '%s', trailers, '%B']
  const format = `--format=${fields.join('%x1f')}`
  const listed = await git.list(['log', '-z', '--reverse', '--topo-order', format, now, `^${base}`, '--'])
  return listed.map((entry) => {
    const [sha = '', tree = '', parent = '', author = '', committer = '', ...others] = entry.split('\x1f')
    const [authored, committed, subject = '', runs = '', message = ''] = others
    const isOfRun = runs.trim() !== ''
    // Who amends or rebases a commit keeps its message and the time of its author.
    const isOwn = isOfRun && authored === committed
    return {
      sha,
      tree,
      parent,
      by: isOfRun ? committer : author,
      subject: subject.slice(0, 100),
      isOwn,
      message: message.trim(),
    }
  })
}

/** It is not known here what is before these commits. */
async function cutCommits({ scratch }: Remote): Promise<Set<string>> {
  const text = await readFile(join(scratch, 'fetched.git', 'shallow'), 'utf8').catch(() => '')
  return new Set(text.split('\n').filter((line) => line !== ''))
}
