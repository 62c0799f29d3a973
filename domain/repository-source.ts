import { z } from 'zod'
import { RunId } from './id-schemas.ts'

/** A commit as git names it, in SHA-1. */
export const CommitId = z.string().regex(/^[0-9a-f]{40}$/)
export type CommitId = z.infer<typeof CommitId>

/** GitHub sends this as the commit of a branch that is not there. */
export const noCommit = '0'.repeat(40)

const namePart = z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/)

/** A repository of a code host. Its id stays when it is renamed. */
export const HostedRepository = z.strictObject({ id: z.int().min(1), owner: namePart, name: namePart })
export type HostedRepository = z.infer<typeof HostedRepository>

/** The code of a run that a code host has, instead of an uploaded archive. */
export const RepositorySource = z.strictObject({
  host: z.literal('github'),
  installationId: z.int().min(1),
  repository: HostedRepository,
  /** Is what the caller named: a branch, a tag or a commit, or `refs/pull/7/head`. */
  ref: z.string().min(1).max(255),
  /** Is absent while nobody has looked what `ref` stands for. */
  commit: CommitId.optional(),
  /** Names the branch that a pull request with the changes is for, for a push or a pull request of the same repository. */
  branch: z.string().min(1).max(255).optional(),
  pullRequest: z.int().min(1).optional(),
  /** Is true when people without write permission may have written the code: nothing of it is set up or published. */
  isFork: z.boolean().default(false),
  /** Only what differs from it is worked on: the run of the branch that was completed last, else a commit. Absent: all of the code. */
  since: z.strictObject({ runId: RunId.optional(), commit: CommitId.optional() }).optional(),
})
export type RepositorySource = z.infer<typeof RepositorySource>

export function fullNameOf({ owner, name }: Pick<HostedRepository, 'owner' | 'name'>): string {
  return `${owner}/${name}`
}
