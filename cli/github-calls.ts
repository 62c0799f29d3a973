import { z } from 'zod'
import type { ApiConnection } from './api-connection.ts'
import { PublicationView, RepositoryView, RunAccepted, Time } from './run-views.ts'

// What the API answers about GitHub, as far as the command line uses it, and how it is asked.

/** `publication`: as it was when it was asked for. */
export const PublicationAsked = z.looseObject({
  run_id: z.string(),
  repository: RepositoryView,
  publication: PublicationView.nullable(),
})
export type PublicationAsked = z.infer<typeof PublicationAsked>

export const InstallationView = z.looseObject({
  installation_id: z.int(),
  project_id: z.string(),
  account: z.string(),
  is_suspended: z.boolean(),
  repository_count: z.int(),
  repositories: z.array(z.string()),
})
export type InstallationView = z.infer<typeof InstallationView>

const InstallationPage = z.object({ installations: z.array(InstallationView) })

/** What became of a webhook. */
export const DeliveryView = z.looseObject({
  delivery_id: z.string(),
  event: z.string(),
  action: z.string().nullable(),
  repository: z.string().nullable(),
  ref: z.string().nullable(),
  outcome: z.string(),
  reason: z.string(),
  run_id: z.string().nullable(),
  at: Time,
})
export type DeliveryView = z.infer<typeof DeliveryView>

const DeliveryPage = z.object({ deliveries: z.array(DeliveryView) })

/** Of a submission without an archive. */
type RepositoryRequest = { agents: readonly string[]; repository: { url: string; ref?: string | undefined } }

export function githubCalls({ get, post, put }: ApiConnection) {
  return {
    /** Has the code fetched. HOST_002 for a repository on which the GitHub App is not installed for the project. */
    submitRepository: (request: RepositoryRequest) => post('/v1/runs', request, RunAccepted),
    /** Asks for the pull request of what is accepted. PUBLISH_001, PUBLISH_004 where there cannot be one. */
    publish: (runId: string) => post(`/v1/runs/${encodeURIComponent(runId)}/publish`, {}, PublicationAsked),
    listInstallations: () => get('/v1/github/installations', InstallationPage),
    /** HOST_002 for an unknown one, PROJECT_001 for an unknown project. */
    assignInstallation: (installationId: string, projectId: string) =>
      put(`/v1/github/installations/${encodeURIComponent(installationId)}`, InstallationView, {
        project_id: projectId,
      }),
    /** Newest first. */
    listDeliveries: (query: { limit: number; ignored: 'hide' | 'show' }) =>
      get('/v1/github/deliveries', DeliveryPage, query),
  }
}
