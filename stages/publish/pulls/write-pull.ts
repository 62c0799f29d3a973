import type { BranchOrder, ChangeRequest, CodeHost, NewCommit } from '#code-hosts/code-host.ts'
import { AppError } from '#domain/error.ts'
import type { PublishedPull } from '#domain/publication.ts'
import type { CommitId } from '#domain/repository-source.ts'
import type { RepositorySettings } from '#settings/github-settings.ts'

export type PullHost = Pick<CodeHost, 'publishBranch'> & {
  openChangeRequest: NonNullable<CodeHost['openChangeRequest']>
  /** The open ones from branches of ours, for one branch or for all. */
  openPulls(base?: string): Promise<readonly { number: number; branch: string }[]>
  /** Throws PUBLISH_002 where somebody else has worked on the branch. */
  requireOwn(order: Pick<BranchOrder, 'branch' | 'baseBranch' | 'written'>): Promise<void>
}

export type WantedPull = {
  /** The branch that is written, and the one that it is for. */
  branch: string
  target: string
  /** The commit that the commits are made on. */
  base: CommitId
  commits: readonly NewCommit[]
  /** Heads of the branch that were written before. */
  written: readonly CommitId[]
  text: Pick<ChangeRequest, 'title' | 'body'>
  isDraft: boolean
  settings: Pick<RepositorySettings, 'maxOpenPulls'>
  /** Is told before a branch gets a pull request; throws where that is too much for a day. */
  beforeOpening(): Promise<void>
  /** Is true when an open pull request has its labels: a try may have been killed before them. People may change these later. */
  isLabelled(number: number): Promise<boolean>
}

/** `isNew` says that it has no labels yet. */
export type WrittenPull = Pick<PublishedPull, 'number' | 'url' | 'isDraft' | 'head' | 'base'> & { isNew: boolean }

/** May be killed at any moment and done again. PUBLISH_002: the branch has a commit that is not ours; PUBLISH_003: too many pulls. */
export async function writePull(wanted: WantedPull, host: PullHost): Promise<WrittenPull> {
  const { branch, target: baseBranch, base, commits, written, settings } = wanted
  const commitOrder = { branch, base, baseBranch, commits, written }
  const open = (await host.openPulls(baseBranch)).find((pull) => pull.branch === branch)
  if (open === undefined) {
    // No branch is left without a pull request, and none is counted that is not opened.
    await host.requireOwn(commitOrder)
    await expectRoom(settings, host)
    await wanted.beforeOpening()
  }
  const isNew = open === undefined || !(await wanted.isLabelled(open.number))
  const { head } = await host.publishBranch(commitOrder)
  const order = { ...wanted.text, branch, baseBranch, isDraft: wanted.isDraft }
  const { number, url, isDraft } = await host.openChangeRequest(order)
  return { number, url, isDraft, head, base, isNew }
}

async function expectRoom(
  { maxOpenPulls }: Pick<RepositorySettings, 'maxOpenPulls'>,
  { openPulls }: PullHost,
): Promise<void> {
  const { length: open } = await openPulls()
  if (open < maxOpenPulls) return
  const text = `${open} pull requests are open, and there may be ${maxOpenPulls} (github.max_open_pulls)`
  throw new AppError('PUBLISH_003', text)
}
