import { z } from 'zod'
import { HostedRepository } from '#domain/repository-source.ts'

const sha = z.string().regex(/^[0-9a-f]{40}$/)
const account = z.strictObject({ login: z.string(), isBot: z.boolean() })
/** The commit of a check. GitHub knows neither branch nor pull requests of one that is pushed to a fork. */
const checked = {
  headSha: sha,
  headBranch: z.string().nullable(),
  /** Lists those from a branch of the repository to another one of it. */
  pulls: z.array(z.strictObject({ number: z.int(), headRef: z.string(), baseRef: z.string() })),
}

/** Holds what a webhook says, reduced to what somebody acts on. The texts are GitHub's own and are not trusted. */
export const DeliveryBody = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ping') }),
  z.strictObject({
    kind: z.literal('push'),
    /** Is `refs/heads/…` or `refs/tags/…`. */
    ref: z.string(),
    before: sha,
    after: sha,
    isForced: z.boolean(),
    pusher: z.string().nullable(),
  }),
  z.strictObject({
    kind: z.literal('pull_request'),
    action: z.string(),
    number: z.int(),
    author: account,
    head: z.strictObject({ ref: z.string(), sha, repositoryId: z.int().nullable() }),
    base: z.strictObject({ ref: z.string(), sha }),
    isMerged: z.boolean(),
    isDraft: z.boolean(),
  }),
  z.strictObject({
    kind: z.literal('installation'),
    action: z.string(),
    account: z.string(),
    /** Lists those that it has got (`created`), or all that were named. */
    repositories: z.array(HostedRepository),
  }),
  z.strictObject({
    kind: z.literal('repositories'),
    account: z.string(),
    added: z.array(HostedRepository),
    removed: z.array(HostedRepository),
  }),
  z.strictObject({
    kind: z.literal('repository'),
    action: z.enum(['renamed', 'transferred', 'deleted']),
    /** Is what it was called before; null for one that was deleted. */
    former: HostedRepository.pick({ owner: true, name: true }).nullable(),
  }),
  z.strictObject({
    kind: z.literal('check_run'),
    action: z.enum(['rerequested', 'requested_action']),
    id: z.int(),
    /** The id of the run, as the publisher has set it; empty for one of somebody else. */
    externalId: z.string(),
    ...checked,
    appId: z.int().nullable(),
    /** Names the button of a requested action. */
    identifier: z.string().nullable(),
  }),
  z.strictObject({
    kind: z.literal('check_suite'),
    action: z.enum(['requested', 'rerequested']),
    ...checked,
    appId: z.int().nullable(),
  }),
  z.strictObject({
    kind: z.literal('comment'),
    commentId: z.int(),
    /** Numbers the issue or pull request. */
    number: z.int(),
    isPullRequest: z.boolean(),
    author: account,
    /** The lines of its first 4,000 characters. */
    text: z.string(),
  }),
  /** An event, or an action of one, on which nobody acts. */
  z.strictObject({ kind: z.literal('other'), action: z.string().nullable() }),
])
export type DeliveryBody = z.infer<typeof DeliveryBody>

/** One webhook of GitHub. Its id is the same when GitHub sends it again, and is not signed: who sends it again may choose another. */
export const Delivery = z.strictObject({
  deliveryId: z.string().regex(/^[\w-]{1,64}$/),
  /** Is `X-GitHub-Event`. */
  event: z.string().regex(/^\w{1,64}$/),
  /** The SHA-256 of all that GitHub has signed, as JSON. */
  bodyHash: z.string().regex(/^[0-9a-f]{64}$/),
  installationId: z.int().nullable(),
  repository: HostedRepository.extend({ defaultBranch: z.string() }).nullable(),
  sender: account.nullable(),
  body: DeliveryBody,
})
export type Delivery = z.infer<typeof Delivery>

/** Says what became of a delivery, as `remora github deliveries` shows it. `at` is in ms since the epoch. */
export const HandledDelivery = z.strictObject({
  deliveryId: z.string(),
  event: z.string(),
  action: z.string().nullable(),
  /** Is `owner/name`; null for what concerns no repository. */
  repository: z.string().nullable(),
  ref: z.string().nullable(),
  /** `run`: a run began. `acted`: something else was done. `ignored`, `failed`: see `reason`. */
  outcome: z.enum(['run', 'acted', 'ignored', 'failed']),
  reason: z.string(),
  projectId: z.string().nullable(),
  runId: z.string().nullable(),
  at: z.number(),
})
export type HandledDelivery = z.infer<typeof HandledDelivery>

/** The part of it that the delivery itself does not say. */
export type DeliveryOutcome = Pick<HandledDelivery, 'outcome' | 'reason'> &
  Partial<Pick<HandledDelivery, 'runId' | 'projectId'>>
