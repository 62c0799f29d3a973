import { z } from 'zod'
import { RunId } from '#domain/id-schemas.ts'
import { PatchKind } from '#domain/run.ts'
import { GateView } from './gate-schema.ts'
import { LeftOut } from './run-schema.ts'
import { orNull } from './wire-parts.ts'

const ofText = 'all changes that nobody has rejected, or those that were accepted'
export const PatchKindShape = PatchKind.meta({ id: 'PatchKind', description: ofText })

/** Says what a patch has of the change sets that it was composed of, and what it has not. */
export const PatchSets = z
  .strictObject({
    run_id: RunId,
    of: PatchKindShape,
    change_sets: z.int().meta({ description: 'how many change sets are in it' }),
    left_out_count: z.int(),
    left_out: z.array(LeftOut).meta({ description: 'the first 100 of them, each with why' }),
    gate: orNull(GateView),
  })
  .meta({ id: 'PatchSets' })
export type PatchSets = z.infer<typeof PatchSets>

/** Equals the number of files that published commits may change at most. */
const mostWithout = 3_000

export const CommitsBody = z
  .strictObject({
    of: PatchKind.meta({ id: 'CommittedPatch', description: ofText }).default('accepted'),
    without: z.array(z.string().max(64)).max(mostWithout).default([]).meta({
      default: [],
      description:
        'change sets that are left out, and with them what is built on one of them or changes a file of theirs: a file is proved with all its sets',
    }),
  })
  .meta({ id: 'CommitsRequest' })

const PlannedFile = z
  .strictObject({
    path: z.string(),
    executable: z.boolean(),
    changes_mode: z.boolean().meta({ description: 'whether the executable bit is not as it was given' }),
    content_base64: z.string().nullable().meta({ description: 'the file after the commit; null: it is deleted' }),
    base_sha1: z
      .string()
      .nullable()
      .meta({ description: 'what git calls the content that the run was given; null: there was no such file' }),
    change_set_ids: z.array(z.string()).meta({ description: 'all that change it, also in another of the commits' }),
  })
  .meta({ id: 'PlannedFile' })

const PlannedCommit = z
  .strictObject({
    agent: z.string(),
    message: z.string(),
    change_set_ids: z.array(z.string()),
    files: z.array(PlannedFile),
  })
  .meta({ id: 'PlannedCommit' })

const PullRequestText = z
  .strictObject({
    title: z.string(),
    body: z.string().meta({ description: 'Markdown: what was done, how it was checked, and how to say no' }),
    is_draft: z.boolean().meta({ description: 'whether nobody has run the tests of it' }),
  })
  .meta({ id: 'PullRequestText' })

export const PlannedCommits = z
  .strictObject({
    run_id: RunId,
    of: PatchKindShape,
    commit: z.string().nullable().meta({ description: 'the commit that the run is of, if that is known' }),
    branch: z.string().nullable().meta({ description: 'the branch that the changes are for, if that is known' }),
    commits: z.array(PlannedCommit),
    pull_request: orNull(PullRequestText).meta({ description: 'for one that has them; null: there are no commits' }),
  })
  .meta({ id: 'PlannedCommits' })
export type PlannedCommits = z.infer<typeof PlannedCommits>
