import { z } from 'zod'
import { RunId } from './id-schemas.ts'
import { CommitId } from './repository-source.ts'

/** One branch with one pull request. `agent`: null for that of all agents. */
export const PublishedPull = z.strictObject({
  agent: z.string().nullable(),
  branch: z.string(),
  number: z.int().min(1),
  url: z.string(),
  /** The commit that the publisher has made last; any other one on the branch is a person's. */
  head: CommitId,
  base: CommitId,
  state: z.enum(['open', 'closed', 'merged']),
  isDraft: z.boolean(),
  /** It is closed since somebody has deleted its branch, which says nothing of the changes: a later run proposes them again. */
  isDeleted: z.literal(true).optional(),
  /** The change sets of the run in it, and those of earlier runs that were in it before. */
  changeSetIds: z.array(z.string()),
  carried: z.array(z.strictObject({ runId: RunId, changeSetIds: z.array(z.string()) })).default([]),
})
export type PublishedPull = z.infer<typeof PublishedPull>

/** A check run of the host, as it was last written. `said`: hash of what it says, so that the same is not sent again. */
export const PublishedCheck = z.strictObject({
  id: z.int().min(1),
  status: z.enum(['queued', 'in_progress', 'completed']),
  said: z.string(),
  at: z.number(),
})

/** Keeps what the publisher has made of a run at its code host. Each step is kept before the next one begins. */
export const Publication = z.strictObject({
  /** Counts the writes: a step that starts from an older one is refused. */
  version: z.int().min(0).default(0),
  check: PublishedCheck.nullable().default(null),
  pulls: z.array(PublishedPull).default([]),
  /** Somebody asked for the pull request of what is accepted, which would not be opened otherwise. */
  isAsked: z.boolean().default(false),
  isDismissed: z.boolean().default(false),
  /** Says why nothing more is published; a later request tries again. */
  fault: z.strictObject({ errorCode: z.string(), reason: z.string(), at: z.number() }).nullable().default(null),
  /** Change sets whose decision has no valid signature and does not count, and of which an event has told so. */
  refused: z.int().min(0).default(0),
  /** The delivery of a push that came while the run waited, as JSON: it is handled once the run has ended. */
  newer: z.string().optional(),
  /** Nothing is left to do until somebody decides, asks or pushes. */
  isSettled: z.boolean().default(false),
})
export type Publication = z.infer<typeof Publication>

/** Notes that somebody has asked for the pull request: what was said or went wrong before does not count any more. */
export function askedFor(publication: Publication): Publication {
  return { ...publication, isAsked: true, isDismissed: false, fault: null, isSettled: false }
}
