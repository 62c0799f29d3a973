import type { GitTree, PlannedFile } from '#domain/planned-commit.ts'
import type { CommitId } from '#domain/repository-source.ts'

/** All branches that are written begin so. */
export const ownBranches = 'remora/'

/** The branch with what is for the branch `target`. `agent`: of one agent alone; null: of all of them. */
export function ownBranchFor(target: string, agent: string | null): string {
  return agent === null ? `${ownBranches}${target}` : `${ownBranches}${target}--${agent}`
}

/** A branch and the commit that it is at. */
export type HostBranch = { name: string; commit: CommitId }

/** A commit that is to be made: what it changes of the one before it. */
export type NewCommit = { message: string; files: readonly PlannedFile[] }

/** Commits that a branch is to have on top of `base`, and no others. */
export type BranchOrder = {
  /** Names the branch without `refs/heads/`. */
  branch: string
  base: CommitId
  /** The branch of `base`: what it has is nobody's work on `branch`. */
  baseBranch: string
  commits: readonly NewCommit[]
  /** Heads that the caller has written before: at one of these the branch is the caller's, whatever it has. */
  written?: readonly CommitId[]
}

/** `unchanged`: it had these commits on this base already, and still is where it was. */
export type PublishedBranch = { head: CommitId; result: 'created' | 'updated' | 'unchanged' }

export type ChangeRequest = {
  branch: string
  baseBranch: string
  /** It is set when the request is opened; after that people know it by its title, and may have changed it. */
  title: string
  body: string
  /** Is set when the request is opened: what people have made of it since is theirs. */
  isDraft: boolean
  /** Are added to those that it has. A host may have none. */
  labels?: readonly string[]
  /** People, and teams as `team:NAME`. A host may have none; who may not review there is not asked. */
  reviewers?: readonly string[]
}

export type OpenedChangeRequest = { number: number; url: string; isDraft: boolean; result: 'opened' | 'updated' }

/** A host that knows fewer states shows the nearest. */
export type CommitState = 'queued' | 'running' | 'success' | 'neutral' | 'failure' | 'cancelled'

/** A place in a file of the commit, and what is said of it. Lines count from 1. */
export type StatusAnnotation = {
  path: string
  startLine: number
  endLine: number
  level: 'notice' | 'warning' | 'failure'
  title: string
  message: string
}

/** Is shown at a status for a person to press. */
export type StatusButton = { identifier: string; label: string; description: string }

/** Says something about a commit. A host shows of it what it can: the title where there is a line for it. */
export type StatusReport = {
  commit: CommitId
  /** Identifies the status with `key`: another report with the same name and key takes the place of this one. */
  name: string
  key: string
  state: CommitState
  title: string
  /** Is Markdown. */
  summary: string
  /** Leads people to where they read more. */
  url: string | null
  /** Is in ms since the epoch. */
  startedAt: number
  buttons: readonly StatusButton[]
  /** All of them, each time: the host adds those that it does not have. */
  annotations: readonly StatusAnnotation[]
  /** Is what the answer to an earlier report has called it, so that it need not be looked for. */
  id?: number
}

export type ReportedStatus = { id: number }

/**
 * Keeps a repository, and does what is done there. All of it may be done again, also after a call of which nobody knows
 * how it ended. HOST_001: it does not answer. HOST_002: it has no such repository. HOST_003: the caller may not do
 * that. HOST_004: it has no such commit or branch.
 */
export type CodeHost = {
  /** Takes null for the default branch. Returns undefined where there is no such branch. */
  findBranch(name: string | null): Promise<HostBranch | undefined>
  /** Returns everything that the commit has. */
  readTree(commit: CommitId): Promise<GitTree>
  /** The content that git calls so, of a commit whose tree was read. HOST_004 for another one. */
  readBlob(sha: string): Promise<Uint8Array>
  /** The paths of which the two commits, whose trees were read, have different files, modes included. Sorted as git sorts them. */
  compare(before: CommitId, after: CommitId): Promise<string[]>
  /**
   * Makes the commits and moves the branch to them. Again with the same commits changes nothing. PUBLISH_002 where the branch has a commit
   * that is neither on the base branch nor one of a run: nothing is moved. Whoever moves the branch at the same time is not overwritten.
   */
  publishBranch(order: BranchOrder): Promise<PublishedBranch>
  /**
   * Is null when the host has no pull requests. The open one of the branch for the base branch is brought up to date, else one is opened.
   */
  openChangeRequest: ((request: ChangeRequest) => Promise<OpenedChangeRequest>) | null
  /** Is null when the host shows no states of commits. */
  reportStatus: ((report: StatusReport) => Promise<ReportedStatus>) | null
}
