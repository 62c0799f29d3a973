import { z } from '@hono/zod-openapi'
import { CommitId, RepositorySource } from '#domain/repository-source.ts'
import { PublishedCheck, PublishedPull } from '#domain/publication.ts'
import type { Run } from '#domain/run.ts'
import { isoTime, named, Time, viewOf } from '../http/schema-parts.ts'

/** Where the code of a run was fetched from. */
export const RepositoryView = z
  .strictObject({
    host: RepositorySource.shape.host,
    owner: z.string(),
    name: z.string(),
    ref: z.string().openapi({ description: 'as it was named: a branch, a tag or a commit' }),
    commit: CommitId.nullable().openapi({ description: 'null until the code host has said which one `ref` names' }),
    branch: z.string().optional().openapi({ description: 'the branch that a pull request with the changes is for' }),
    pull_request: z.int().optional(),
  })
  .openapi('Repository', { description: 'null for a run whose code was uploaded' })

const PullView = z
  .strictObject({
    agent: z.string().nullable().openapi({ description: 'null for that of all agents' }),
    branch: z.string(),
    number: z.int(),
    url: z.string(),
    state: named('PullState', PublishedPull.shape.state),
    is_draft: z.boolean(),
  })
  .openapi('PublishedPull')

const FaultView = z.strictObject({ error_code: z.string(), reason: z.string(), at: Time }).openapi('PublicationFault', {
  description: 'why nothing more is published; `POST /v1/runs/{run_id}/publish` tries again',
})

/** What was made of a run at its code host. */
export const PublicationView = z
  .strictObject({
    check_run: z
      .strictObject({ id: z.int(), status: named('CheckRunStatus', PublishedCheck.shape.status) })
      .openapi('PublishedCheckRun')
      .optional(),
    pulls: z.array(PullView),
    fault: FaultView.optional(),
  })
  .openapi('Publication', { description: 'null where nothing was made yet' })
type PublicationView = z.infer<typeof PublicationView>

export function repositoryView({ request, commit }: Pick<Run, 'request' | 'commit'>) {
  if (request.repository === undefined) return null
  const { host, repository, ref, branch, pullRequest } = request.repository
  return {
    host,
    owner: repository.owner,
    name: repository.name,
    ref,
    commit: commit ?? request.repository.commit ?? null,
    ...(branch !== undefined && { branch }),
    ...(pullRequest !== undefined && { pull_request: pullRequest }),
  }
}

export function publicationView(publication: Run['publication']): PublicationView | null {
  if (publication === null) return null
  const { check, pulls, fault } = publication
  return {
    ...(check !== null && { check_run: { id: check.id, status: check.status } }),
    pulls: pulls.map((pull) => viewOf(PullView, pull, {})),
    ...(fault !== null && { fault: viewOf(FaultView, fault, { at: isoTime(fault.at) }) }),
  }
}
