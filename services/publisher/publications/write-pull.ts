import { AppError, undefinedOn } from '#domain/error.ts'
import type { PublishedPull } from '#domain/publication.ts'
import type { CommitId } from '#domain/repository-source.ts'
import type { HostCommit, RepositoryReads } from '../github/repository-reads.ts'
import type { PullText, RepositoryWrites, WrittenCommit } from '../github/repository-writes.ts'
import type { RepositorySettings } from '../deliveries/repository-settings.ts'

export type PullHost = { reads: RepositoryReads; writes: RepositoryWrites; botLogin: string }

export type WantedPull = {
  /** The branch that is written, and the one that it is for. */
  branch: string
  target: string
  /** The commit that the commits are made on. */
  base: CommitId
  commits: readonly WrittenCommit[]
  text: PullText
  isDraft: boolean
  settings: Pick<RepositorySettings, 'labels' | 'reviewers' | 'maxOpenPulls'>
  /** Told before a pull request is opened; throws where that is too much for a day. */
  beforeOpening(): Promise<void>
  /** Whether all was done for a pull request that is open: a try may have been killed before its labels. People may change these later. */
  isKnown(number: number): Promise<boolean>
}

export type WrittenPull = Pick<PublishedPull, 'number' | 'url' | 'isDraft' | 'head' | 'base'> & {
  /** Whether it was opened, or has other commits than before. */
  what: 'opened' | 'updated' | 'same'
}

/**
 * Writes one branch and its pull request. Each step looks first what is there, so that it may be killed at any moment and done again.
 * PUBLISH_002: the branch has a commit that is not the app's; PUBLISH_003: there are as many pull requests as there may be.
 */
export async function writePull(wanted: WantedPull, host: PullHost): Promise<WrittenPull> {
  const { branch, target, base, commits, text, settings } = wanted
  const { reads, writes } = host
  const head = await reads.branchHead(branch)
  const open = await writes.findPull(branch, target)
  if (head !== undefined) await expectOurs(branch, { head, target }, host)
  if (open === undefined) await expectRoom(settings, writes)
  const made = await writes.makeCommits({ commit: base, tree: await reads.treeOf(base) }, commits)
  const isSame = head !== undefined && (await isSameWork(head, { made, base, commits: commits.length }, host))
  const written = isSame && head !== undefined ? head : made.commit
  if (!isSame) await writes.putBranch(branch, { from: head, to: made.commit })
  if (open !== undefined) await writes.updatePull(open.number, text)
  else await wanted.beforeOpening()
  const { number, url, isDraft } =
    open ?? (await writes.openPull({ ...text, head: branch, base: target, draft: wanted.isDraft }))
  if (!(await wanted.isKnown(number))) {
    await writes.addLabels(number, settings.labels)
    // Somebody who may not review there must not keep the pull request from being noted.
    await writes.askReviewers(number, settings.reviewers).catch(undefinedOn('PUBLISH_001'))
  }
  const what = open === undefined ? 'opened' : isSame ? 'same' : 'updated'
  return { number, url, isDraft, head: written, base, what }
}

type OnBranch = { head: CommitId; target: string }

/** Every commit of the branch that is not on its target must be the app's own. */
export async function expectOurs(
  branch: string,
  { head, target }: OnBranch,
  { reads, botLogin }: Pick<PullHost, 'reads' | 'botLogin'>,
): Promise<void> {
  const targetHead = await reads.branchHead(target)
  if (targetHead === undefined) throw new AppError('HOST_004', `there is no branch ${target} any more`)
  const foreign = (await reads.commitsSince(targetHead, head, botLogin)).find(({ isOurs }) => !isOurs)
  if (foreign !== undefined) throw foreignCommit(branch, foreign)
}

function foreignCommit(branch: string, { sha, author }: HostCommit): AppError {
  const what = `the branch ${branch} has the commit ${sha.slice(0, 12)} of ${author}`
  return new AppError('PUBLISH_002', `${what}: it is left as it is. Merge or delete the branch to have a new one`)
}

async function expectRoom(
  { maxOpenPulls }: Pick<RepositorySettings, 'maxOpenPulls'>,
  writes: RepositoryWrites,
): Promise<void> {
  const { length: open } = await writes.openPulls()
  if (open < maxOpenPulls) return
  throw new AppError(
    'PUBLISH_003',
    `${open} pull requests are open, and there may be ${maxOpenPulls} (github.max_open_pulls)`,
  )
}

/** Whether the branch has these files on this base already: commits made again have other times, and so other names. */
async function isSameWork(
  head: CommitId,
  { made, base, commits }: { made: { tree: string }; base: CommitId; commits: number },
  { reads, botLogin }: PullHost,
): Promise<boolean> {
  if ((await reads.treeOf(head)) !== made.tree) return false
  const there = await reads.commitsSince(base, head, botLogin)
  return there.length === commits && (await reads.mergeBase(base, head)) === base
}
