import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { CommitId, HostedRepository } from '#domain/repository-source.ts'
import { Delivery, type DeliveryBody } from './delivery.ts'

/** Holds what GitHub says about a delivery beside its payload: `X-GitHub-Delivery` and `X-GitHub-Event`, or the same fields of its API. */
export type DeliveryHeaders = { deliveryId: string | undefined; event: string | undefined }

const mostText = 4_000
const mostFaults = 2_000

/** Takes longer names than GitHub allows. */
const name = z.string().min(1).max(1_024)
const id = z.int()
const User = z.object({ login: name, type: z.string().nullish() })
type User = z.infer<typeof User>

/** GitHub shows an account that was deleted so. */
const nobody: User = { login: 'ghost' }

function accountOf(user: User | null | undefined) {
  const { login, type } = user ?? nobody
  return { login, isBot: type === 'Bot' }
}

/** Lists of repositories name the owner only in the full name. */
const Listed = z
  .object({ id, full_name: z.string() })
  .transform(({ id: of, full_name: fullName }) => {
    const [owner, repository] = fullName.split('/')
    return { id: of, owner, name: repository }
  })
  .pipe(HostedRepository)

/** Takes the slug of an enterprise, which has no login. */
export const InstalledAccount = z
  .object({ login: name.optional(), slug: name.optional() })
  .nullish()
  .transform((account) => account?.login ?? account?.slug ?? nobody.login)
const InstalledIn = z.object({ account: InstalledAccount }).transform(({ account }) => account)

/** Somebody acts on these actions only; of the events that are not here, on all of them. */
const actedOn = {
  repository: ['renamed', 'transferred', 'deleted'],
  check_run: ['rerequested', 'requested_action'],
  check_suite: ['requested', 'rerequested'],
  issue_comment: ['created'],
} as const

const Push = z
  .object({ ref: name, before: CommitId, after: CommitId, forced: z.boolean(), pusher: z.object({ name }).nullish() })
  .transform(({ ref, before, after, forced, pusher }) => {
    return { kind: 'push' as const, ref, before, after, isForced: forced, pusher: pusher?.name ?? null }
  })

const PullRequest = z
  .object({
    action: name,
    pull_request: z.object({
      number: id,
      user: User.nullish(),
      head: z.object({ ref: name, sha: CommitId, repo: z.object({ id }).nullish() }),
      base: z.object({ ref: name, sha: CommitId }),
      merged: z.boolean().nullish(),
      draft: z.boolean().nullish(),
    }),
  })
  .transform(({ action, pull_request: { number, user, head, base, merged, draft } }) => ({
    kind: 'pull_request' as const,
    action,
    number,
    author: accountOf(user),
    head: { ref: head.ref, sha: head.sha, repositoryId: head.repo?.id ?? null },
    base,
    isMerged: merged ?? false,
    isDraft: draft ?? false,
  }))

const InstallationChange = z
  .object({ action: name, installation: InstalledIn, repositories: z.array(Listed).nullish() })
  .transform(({ action, installation: account, repositories }) => {
    return { kind: 'installation' as const, action, account, repositories: repositories ?? [] }
  })

const RepositoriesChange = z
  .object({ installation: InstalledIn, repositories_added: z.array(Listed), repositories_removed: z.array(Listed) })
  .transform(({ installation: account, repositories_added: added, repositories_removed: removed }) => {
    return { kind: 'repositories' as const, account, added, removed }
  })

const Owner = z.object({ login: name }).nullish()
const RepositoryChange = z
  .object({
    action: z.enum(actedOn.repository),
    repository: z.object({ name, owner: z.object({ login: name }) }),
    changes: z
      .object({
        repository: z.object({ name: z.object({ from: name }) }).optional(),
        owner: z.object({ from: z.object({ user: Owner, organization: Owner }) }).optional(),
      })
      .optional(),
  })
  .transform(({ action, repository, changes }) => {
    const { user, organization } = changes?.owner?.from ?? {}
    const owner = user?.login ?? organization?.login ?? repository.owner.login
    const former = { owner, name: changes?.repository?.name.from ?? repository.name }
    return { kind: 'repository' as const, action, former: action === 'deleted' ? null : former }
  })

const Side = z.object({ ref: name, repo: z.object({ id }) })
const PullsAt = z.array(z.object({ number: id, head: Side, base: Side })).nullish()

/** GitHub also names pull requests from and to forks that have the commit. */
function pullsWithin(repository: { id: number }, pulls: z.infer<typeof PullsAt>) {
  return (pulls ?? []).flatMap(({ number, head, base }) =>
    head.repo.id === repository.id && base.repo.id === repository.id
      ? [{ number, headRef: head.ref, baseRef: base.ref }]
      : [],
  )
}

const CheckRun = z
  .object({
    action: z.enum(actedOn.check_run),
    check_run: z.object({
      id,
      external_id: z.string().max(1_024).nullish(),
      head_sha: CommitId,
      app: z.object({ id }).nullish(),
      check_suite: z.object({ head_branch: name.nullish() }).nullish(),
      pull_requests: PullsAt,
    }),
    requested_action: z.object({ identifier: name }).nullish(),
    repository: z.object({ id }),
  })
  .transform(({ action, check_run: run, requested_action: requested, repository }) => ({
    kind: 'check_run' as const,
    action,
    id: run.id,
    externalId: run.external_id ?? '',
    headSha: run.head_sha,
    headBranch: run.check_suite?.head_branch ?? null,
    pulls: pullsWithin(repository, run.pull_requests),
    appId: run.app?.id ?? null,
    identifier: requested?.identifier ?? null,
  }))

const CheckSuite = z
  .object({
    action: z.enum(actedOn.check_suite),
    check_suite: z.object({
      head_sha: CommitId,
      head_branch: name.nullish(),
      app: z.object({ id }).nullish(),
      pull_requests: PullsAt,
    }),
    repository: z.object({ id }),
  })
  .transform(({ action, check_suite: suite, repository }) => ({
    kind: 'check_suite' as const,
    action,
    headSha: suite.head_sha,
    headBranch: suite.head_branch ?? null,
    pulls: pullsWithin(repository, suite.pull_requests),
    appId: suite.app?.id ?? null,
  }))

/** Half of a command is another command. */
function wholeLines(text: string): string {
  return text.length <= mostText ? text : text.slice(0, text.lastIndexOf('\n', mostText) + 1)
}

const Comment = z
  .object({
    issue: z.object({ number: id, pull_request: z.object({}).nullish() }),
    comment: z.object({ id, user: User.nullish(), body: z.string() }),
  })
  .transform(({ issue, comment }) => ({
    kind: 'comment' as const,
    commentId: comment.id,
    number: issue.number,
    isPullRequest: (issue.pull_request ?? null) !== null,
    author: accountOf(comment.user),
    text: wholeLines(comment.body).toWellFormed(),
  }))

const readers = new Map<string, z.ZodType<DeliveryBody>>(
  Object.entries({
    ping: z.object({}).transform(() => ({ kind: 'ping' as const })),
    push: Push,
    pull_request: PullRequest,
    installation: InstallationChange,
    installation_repositories: RepositoriesChange,
    repository: RepositoryChange,
    check_run: CheckRun,
    check_suite: CheckSuite,
    issue_comment: Comment,
  }),
)
/** Is not looked up in the table itself, where any object has a `constructor`. */
const onlyActions = new Map<string, readonly string[]>(Object.entries(actedOn))

const Repository = z
  .object({ id, name, owner: z.object({ login: name }), default_branch: name })
  .transform(({ id: of, name: called, owner, default_branch: defaultBranch }) => {
    return { id: of, owner: owner.login, name: called, defaultBranch }
  })
  .pipe(Delivery.shape.repository.unwrap())

/** Parses what every payload may have. The repository of an event on which nobody acts may be of another shape. */
const Envelope = z.object({
  action: name.nullish(),
  installation: z.object({ id }).nullish(),
  sender: User.nullish(),
  repository: z.unknown().optional(),
})

/** These are about a repository, and of no use without it. */
const ofRepository: ReadonlySet<string> = new Set([
  'push',
  'pull_request',
  'repository',
  'comment',
  'check_run',
  'check_suite',
])

/**
 * A webhook of GitHub, reduced to what somebody acts on. INTAKE_008, which names every field at fault, for headers that are none
 * of GitHub's and for a payload that is not one of its event.
 */
export function deliveryOf({ deliveryId, event }: DeliveryHeaders, payload: unknown): Delivery {
  const known = {
    deliveryId: read('X-GitHub-Delivery', Delivery.shape.deliveryId, deliveryId),
    event: read('X-GitHub-Event', Delivery.shape.event, event),
  }
  const { action = null, installation, sender, repository } = read('body', Envelope, payload)
  const reader = isActedOn(known.event, action) ? readers.get(known.event) : undefined
  const body = reader === undefined ? { kind: 'other' as const, action } : read('body', reader, payload)
  const needsRepository = ofRepository.has(body.kind)
  return {
    ...known,
    bodyHash: sha256(JSON.stringify(payload)),
    installationId: installation?.id ?? null,
    repository: needsRepository
      ? read('body.repository', Repository, repository)
      : (Repository.safeParse(repository).data ?? null),
    sender: sender ? accountOf(sender) : null,
    body,
  }
}

function isActedOn(event: string, action: string | null): boolean {
  const only = onlyActions.get(event)
  return only === undefined || (action !== null && only.includes(action))
}

function read<Schema extends z.ZodType>(what: string, schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => `${[what, ...issue.path].join('.')}: ${issue.message}`)
  throw new AppError('INTAKE_008', faults.join('; ').slice(0, mostFaults))
}
