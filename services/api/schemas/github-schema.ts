import { z } from 'zod'
import { ProjectId, RunId } from '#domain/id-schemas.ts'
import { PublicationView, RepositoryView } from './publication-schema.ts'
import { RunLinks } from './run-schema.ts'
import { orNull, Time } from './wire-parts.ts'

export const InstallationView = z
  .strictObject({
    installation_id: z.int(),
    project_id: ProjectId,
    account: z.string().meta({ description: 'the user or organisation of GitHub that has installed the App' }),
    is_suspended: z.boolean(),
    repository_count: z.int(),
    repositories: z.array(z.string()).meta({ description: 'the first 100 of them, as `owner/name`' }),
  })
  .meta({ id: 'Installation' })
export type InstallationView = z.infer<typeof InstallationView>

export const InstallationPage = z
  .strictObject({ installations: z.array(InstallationView) })
  .meta({ id: 'InstallationPage' })

export const AssignBody = z.strictObject({ project_id: ProjectId }).meta({ id: 'InstallationRequest' })

export const DeliveryView = z
  .strictObject({
    delivery_id: z.string().meta({ description: "GitHub's own, as its page of recent deliveries has it" }),
    event: z.string(),
    action: z.string().nullable(),
    repository: z.string().nullable().meta({ description: '`owner/name`' }),
    ref: z.string().nullable(),
    outcome: z.enum(['run', 'acted', 'ignored', 'failed']).meta({
      id: 'DeliveryOutcome',
      description: 'run: a run began. acted: something else was done. ignored, failed: `reason` says why',
    }),
    reason: z.string(),
    project_id: ProjectId.nullable(),
    run_id: RunId.nullable(),
    at: Time,
  })
  .meta({ id: 'Delivery' })
export type DeliveryView = z.infer<typeof DeliveryView>

export const DeliveryPage = z.strictObject({ deliveries: z.array(DeliveryView) }).meta({ id: 'DeliveryPage' })

export const PublicationAsked = z
  .strictObject({ run_id: RunId, repository: RepositoryView, publication: orNull(PublicationView), links: RunLinks })
  .meta({ id: 'PublicationAsked' })
export type PublicationAsked = z.infer<typeof PublicationAsked>

export const WebhookAnswer = z
  .strictObject({ delivery_id: z.string(), status: z.enum(['taken', 'seen']).meta({ id: 'WebhookStatus' }) })
  .meta({ id: 'WebhookAnswer' })
