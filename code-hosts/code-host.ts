import type { GitTree, PlannedFile } from '#domain/planned-commit.ts'
import type { CommitId } from '#domain/repository-source.ts'

export const ownBranches = 'remora/'

/** `agent` is null for the branch that has the changes of all agents. */
export function ownBranchFor(target: string, agent: string | null): string {
  return agent === null ? `${ownBranches}${target}` : `${ownBranches}${target}--${agent}`
}

export type HostBranch = { name: string; commit: CommitId }

export type NewCommit = { message: string; files: readonly PlannedFile[] }

/** The branch is to have these commits on top of `base`, and no others. */
export type BranchOrder = {
  /** Names the branch without `refs/heads/`. */
  branch: string
  base: CommitId
  /** Commits that the branch of `base` has do not count as somebody's work on `branch`. */
  baseBranch: string
  commits: readonly NewCommit[]
  /** At one of these heads, which the caller has written before, the branch is the caller's, whatever it has. */
  written?: readonly CommitId[]
}

/** `unchanged` means that the branch had these commits on this base already. */
export type PublishedBranch = { head: CommitId; result: 'created' | 'updated' | 'unchanged' }

export type ChangeRequest = {
  branch: string
  baseBranch: string
  /** It is set when the request is opened; after that people know it by its title, and may have changed it. */
  title: string
  body: string
  /** Is set when the request is opened: what people have made of it since is theirs. */
  isDraft: boolean
  /** They are added to the request's own. A host may have none. */
  labels?: readonly string[]
  /** Teams are `team:NAME`. Who may not review there is not asked. */
  reviewers?: readonly string[]
}

export type OpenedChangeRequest = { number: number; url: string; isDraft: boolean; result: 'opened' | 'updated' }

/** A host that knows fewer states shows the nearest. */
export type CommitState = 'queued' | 'running' | 'success' | 'neutral' | 'failure' | 'cancelled'

/** Lines count from 1. */
export type StatusAnnotation = {
  path: string
  startLine: number
  endLine: number
  level: 'notice' | 'warning' | 'failure'
  title: string
  message: string
}

export type StatusButton = { identifier: string; label: string; description: string }

/** A host shows of it what it can: the title where there is a line for it. */
export type StatusReport = {
  commit: CommitId
  /** A report with the same name and `key` takes the place of the one before. */
  name: string
  key: string
  state: CommitState
  title: string
  /** Is Markdown. */
  summary: string
  url: string | null
  /** Is in ms since the epoch. */
  startedAt: number
  buttons: readonly StatusButton[]
  /** It has all annotations each time: the host adds those that it does not have. */
  annotations: readonly StatusAnnotation[]
  /** It is the id in the answer to an earlier report, which saves a search. */
  id?: number
}

export type ReportedStatus = { id: number }

/**
 * Keeps a repository; all of it may be done again. HOST_001: it does not answer. HOST_002: it has no such repository. HOST_003: the caller
 * may not do that. HOST_004: it has no such commit or branch.
 */
export type CodeHost = {
  /** It takes null for the default branch. */
  findBranch(name: string | null): Promise<HostBranch | undefined>
  readTree(commit: CommitId): Promise<GitTree>
  /** It knows the blobs of commits whose trees were read; HOST_004 for another one. */
  readBlob(sha: string): Promise<Uint8Array>
  /** Returns the paths at which two commits whose trees were read differ, modes included, sorted as git sorts them. */
  compare(before: CommitId, after: CommitId): Promise<string[]>
  /** Moves the branch to these commits; again changes nothing. PUBLISH_002 where it has a commit of somebody else: nothing is moved. */
  publishBranch(order: BranchOrder): Promise<PublishedBranch>
  /** Updates the open request of the branch, or opens one. Is null when the host has none. */
  openChangeRequest: ((request: ChangeRequest) => Promise<OpenedChangeRequest>) | null
  /** Is null when the host shows no states of commits. */
  reportStatus: ((report: StatusReport) => Promise<ReportedStatus>) | null
}
