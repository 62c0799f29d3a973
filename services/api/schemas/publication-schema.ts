import { z } from 'zod'
import { PublishedCheck, PublishedPull } from '#domain/publication.ts'
import { CommitId, RepositorySource } from '#domain/repository-source.ts'
import { Time } from './wire-parts.ts'

/** Says where the code of a run was fetched from. */
export const RepositoryView = z
  .strictObject({
    host: RepositorySource.shape.host,
    owner: z.string(),
    name: z.string(),
    ref: z.string().meta({ description: 'as it was named: a branch, a tag or a commit' }),
    commit: CommitId.nullable().meta({ description: 'null until the code host has said which one `ref` names' }),
    branch: z.string().optional().meta({ description: 'the branch that a pull request with the changes is for' }),
    pull_request: z.int().optional(),
  })
  .meta({ id: 'Repository', description: 'null for a run whose code was uploaded' })

export const PullView = z
  .strictObject({
    agent: z.string().nullable().meta({ description: 'null for that of all agents' }),
    branch: z.string(),
    number: z.int(),
    url: z.string(),
    state: PublishedPull.shape.state.meta({ id: 'PullState' }),
    is_draft: z.boolean(),
  })
  .meta({ id: 'PublishedPull' })

export const FaultView = z.strictObject({ error_code: z.string(), reason: z.string(), at: Time }).meta({
  id: 'PublicationFault',
  description: 'why nothing more is published; `POST /v1/runs/{run_id}/publish` tries again',
})

/** Shows what was made of a run at its code host. */
export const PublicationView = z
  .strictObject({
    check_run: z
      .strictObject({ id: z.int(), status: PublishedCheck.shape.status.meta({ id: 'CheckRunStatus' }) })
      .meta({ id: 'PublishedCheckRun' })
      .optional(),
    pulls: z.array(PullView),
    fault: FaultView.optional(),
  })
  .meta({ id: 'Publication', description: 'null where nothing was made yet' })
export type PublicationView = z.infer<typeof PublicationView>
