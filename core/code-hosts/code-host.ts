import type { GitTree, PlannedFile } from '#domain/planned-commit.ts'
import type { CommitId } from '#domain/repository-source.ts'

/** A branch and the commit that it is at. */
export type HostBranch = { name: string; commit: CommitId }

/** A commit that is to be made: what it changes of the one before it. */
export type NewCommit = { message: string; files: readonly PlannedFile[] }

/**
 * Commits that a branch is to have on top of `base`, and no others. `branch`: without `refs/heads/`. `baseBranch`: that of `base`;
 * what it has is nobody's work on the branch.
 */
export type BranchOrder = { branch: string; base: CommitId; baseBranch: string; commits: readonly NewCommit[] }

/** `unchanged`: it had just these commits already. */
export type PublishedBranch = { head: CommitId; result: 'created' | 'updated' | 'unchanged' }

export type ChangeRequest = { branch: string; baseBranch: string; title: string; body: string; isDraft: boolean }

export type StatusReport = {
  commit: CommitId
  state: 'pending' | 'success' | 'failure'
  summary: string
  url: string | null
}

/**
 * Where a repository is kept, and what is done there. HOST_001: it does not answer. HOST_002: it has no such repository. HOST_003: the
 * caller may not do that. HOST_004: it has no such commit or branch.
 */
export type CodeHost = {
  /** null: the default branch. Undefined where there is no such branch. */
  findBranch(name: string | null): Promise<HostBranch | undefined>
  /** Everything that the commit has. */
  readTree(commit: CommitId): Promise<GitTree>
  /** The content that git calls so, of a commit whose tree was read. HOST_004 for another one. */
  readBlob(sha: string): Promise<Uint8Array>
  /** The paths of which the two commits have different files, modes included. */
  compare(before: CommitId, after: CommitId): Promise<string[]>
  /**
   * Makes the commits and moves the branch to them. Again with the same commits changes nothing. PUBLISH_002 where the branch has a commit
   * that is neither on the base branch nor one of a run: nothing is moved.
   */
  publishBranch(order: BranchOrder): Promise<PublishedBranch>
  /** null: the host has no pull requests. The one of the branch is opened, or brought up to date. */
  openChangeRequest: ((request: ChangeRequest) => Promise<{ number: number; url: string }>) | null
  /** null: the host shows no states of commits. */
  reportStatus: ((report: StatusReport) => Promise<void>) | null
}
