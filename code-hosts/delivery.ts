import { z } from 'zod'
import { CommitId, HostedRepository } from '#domain/repository-source.ts'

const mostText = 4_000

/** Takes longer names than GitHub allows. */
export const name = z.string().min(1).max(1_024)
const id = z.int()
export const User = z.object({ login: name, type: z.string().nullish() })
type User = z.infer<typeof User>

/** GitHub shows an account that was deleted so. */
const nobody: User = { login: 'ghost' }

export function accountOf(user: User | null | undefined) {
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

/** An enterprise has a slug and no login. */
export const InstalledAccount = z
  .object({ login: name.optional(), slug: name.optional() })
  .nullish()
  .transform((account) => account?.login ?? account?.slug ?? nobody.login)
const InstalledIn = z.object({ account: InstalledAccount }).transform(({ account }) => account)

/** Somebody acts on these actions only; of the events that are not here, on all of them. */
export const actedOn = {
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
      head: z.object({ ref: name, repo: z.object({ id }).nullish() }),
      base: z.object({ ref: name }),
      merged: z.boolean().nullish(),
    }),
  })
  .transform(({ action, pull_request: { number, user, head, base, merged } }) => ({
    kind: 'pull_request' as const,
    action,
    number,
    author: accountOf(user),
    head: { ref: head.ref, repositoryId: head.repo?.id ?? null },
    base,
    isMerged: merged ?? false,
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
      external_id: z.string().max(1_024).nullish(),
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
    externalId: run.external_id ?? '',
    headBranch: run.check_suite?.head_branch ?? null,
    pulls: pullsWithin(repository, run.pull_requests),
    appId: run.app?.id ?? null,
    identifier: requested?.identifier ?? null,
  }))

const CheckSuite = z
  .object({
    action: z.enum(actedOn.check_suite),
    check_suite: z.object({
      head_branch: name.nullish(),
      app: z.object({ id }).nullish(),
      pull_requests: PullsAt,
    }),
    repository: z.object({ id }),
  })
  .transform(({ action, check_suite: suite, repository }) => ({
    kind: 'check_suite' as const,
    action,
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

/** Reads the payloads of the events on which somebody acts, by their names. */
export const bodyReaders = {
  ping: z.unknown().transform(() => ({ kind: 'ping' as const })),
  push: Push,
  pull_request: PullRequest,
  installation: InstallationChange,
  installation_repositories: RepositoriesChange,
  repository: RepositoryChange,
  check_run: CheckRun,
  check_suite: CheckSuite,
  issue_comment: Comment,
}

/** The texts are GitHub's own and are not trusted. `other` is an event, or an action of one, on which nobody acts. */
export type DeliveryBody =
  | z.output<(typeof bodyReaders)[keyof typeof bodyReaders]>
  | { kind: 'other'; action: string | null }

export const DeliveredRepository = z
  .object({ id, name, owner: z.object({ login: name }), default_branch: name })
  .transform(({ id: of, name: called, owner, default_branch: defaultBranch }) => {
    return { id: of, owner: owner.login, name: called, defaultBranch }
  })
  .pipe(HostedRepository.extend({ defaultBranch: z.string() }))

/** These kinds are about a repository, and of no use without it. */
export const kindsInRepository = ['push', 'pull_request', 'repository', 'comment', 'check_run', 'check_suite'] as const
const kinds = [...kindsInRepository, 'ping', 'installation', 'repositories', 'other'] as const

export const DeliveryHeaders = z.object({
  deliveryId: z.string().regex(/^[\w-]{1,64}$/),
  event: z.string().regex(/^\w{1,64}$/),
})

const Stored = DeliveryHeaders.extend({ bodyHash: z.string(), body: z.object({ kind: z.enum(kinds) }) })

/** GitHub uses the id again when it sends the delivery again. `bodyHash` is the SHA-256 of all that GitHub has signed, as JSON. */
export type Delivery = z.infer<typeof DeliveryHeaders> & {
  bodyHash: string
  installationId: number | null
  repository: z.infer<typeof DeliveredRepository> | null
  sender: ReturnType<typeof accountOf> | null
  body: DeliveryBody
}

/** Takes a delivery that `deliveryOf` has made: only its kind is looked at, since the signature beside it vouches for the rest. */
export const Delivery = z.custom<Delivery>((value) => Stored.safeParse(value).success)

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

export type DeliveryOutcome = Pick<HandledDelivery, 'outcome' | 'reason'> &
  Partial<Pick<HandledDelivery, 'runId' | 'projectId'>>
