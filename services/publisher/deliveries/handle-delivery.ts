import { ownBranches } from '#code-hosts/code-host.ts'
import type { Delivery, DeliveryBody, DeliveryOutcome, HandledDelivery } from '#code-hosts/delivery.ts'
import type { InstalledRepository, Installations } from '#code-hosts/installations.ts'
import { undefinedOn, unreachable } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { fullNameOf, noCommit, type RepositorySource } from '#domain/repository-source.ts'
import { type CommentDeps, takeComment } from './answer-comment.ts'
import { type BranchDeps, type BranchNews, lookAtBranch } from './look-at-branch.ts'
import { type RequestDeps, takeCheckRequest, takePullState } from './take-requests.ts'

export type HandleDeps = BranchDeps &
  RequestDeps &
  CommentDeps & {
    installations: Installations
    /** The project of a new installation. */
    project: string
  }

const ignored = (reason: string): DeliveryOutcome => ({ outcome: 'ignored', reason })
const acted = (reason: string): DeliveryOutcome => ({ outcome: 'acted', reason })

/** Does what a webhook asks for. Doing it again changes nothing. Throws what may pass, as HOST_001 and STORE_001. */
export async function handleDelivery(delivery: Delivery, deps: HandleDeps): Promise<DeliveryOutcome> {
  const { body } = delivery
  switch (body.kind) {
    case 'ping':
      return acted('the webhook works')
    case 'installation':
    case 'repositories':
      return noteInstallation(delivery, body, deps)
    case 'other':
      return ignored('nothing is done for this event')
    default:
      return inRepository(delivery, body, deps)
  }
}

type InRepository = Exclude<DeliveryBody, { kind: 'ping' | 'installation' | 'repositories' | 'other' }>

async function inRepository(delivery: Delivery, body: InRepository, deps: HandleDeps): Promise<DeliveryOutcome> {
  const repository = await installedRepository(delivery, deps)
  if (repository === undefined) return ignored('the app is not installed for the repository, or is suspended')
  const { projectId } = repository
  switch (body.kind) {
    case 'push':
      return { projectId, ...(await takePush(delivery, body, repository, deps)) }
    case 'pull_request':
      return { projectId, ...(await takePullRequest(delivery, body, repository, deps)) }
    case 'check_run':
      if (body.appId !== deps.appId) return ignored('the check run is of another app')
      if (body.action === 'rerequested') return { projectId, ...(await runAgain(delivery, body, repository, deps)) }
      return { projectId, ...(await takeCheckRequest(body, { repository, sender: delivery.sender }, deps)) }
    case 'check_suite':
      if (body.appId !== deps.appId) return ignored('the check suite is of another app')
      // GitHub requests a suite with each push, whose own webhook is what counts.
      if (body.action === 'requested') return ignored('its push starts the run')
      return { projectId, ...(await runAgain(delivery, body, repository, deps)) }
    case 'repository':
      if (body.former !== null) await deps.installations.removeRepositories([body.former])
      if (body.action === 'deleted') await deps.installations.removeRepositories([repository])
      return { projectId, ...acted(`the repository was ${body.action}`) }
    case 'comment':
      return { projectId, ...(await takeComment(body, repository, deps)) }
    default:
      return unreachable(body)
  }
}

type Repository = BranchNews['repository']

async function takePush(
  delivery: Delivery,
  body: Extract<DeliveryBody, { kind: 'push' }>,
  repository: Repository,
  deps: HandleDeps,
): Promise<DeliveryOutcome> {
  const { ref, before, after, isForced } = body
  const heads = 'refs/heads/'
  if (!ref.startsWith(heads)) return ignored('it is no branch that was pushed')
  if (after === noCommit) return ignored('the branch was deleted')
  const author = delivery.sender?.login ?? body.pusher ?? ''
  if (author === deps.botLogin) return ignored('the app itself has pushed it')
  return lookAtBranch({ repository, branch: ref.slice(heads.length), author, before, isForced }, deps)
}

/** What a pull request may say that its branch has another commit. */
const newCode = ['opened', 'reopened', 'synchronize', 'ready_for_review']

async function takePullRequest(
  delivery: Delivery,
  body: Extract<DeliveryBody, { kind: 'pull_request' }>,
  repository: Repository,
  deps: HandleDeps,
): Promise<DeliveryOutcome> {
  const { action, number, author, head, base } = body
  const isReopened = action === 'reopened' && author.login === deps.botLogin
  if (action === 'closed' || isReopened) return takePullState(body, { repository, sender: delivery.sender }, deps)
  if (!newCode.includes(action)) return ignored(`nothing is done when a pull request is ${action}`)
  if (author.login === deps.botLogin) return ignored('the pull request is one of our own')
  const isFork = head.repositoryId !== repository.id
  const pull = { number, baseRef: base.ref, isFork }
  return lookAtBranch({ repository, branch: head.ref, pull, author: author.login }, deps)
}

/** Somebody asks for the checks of a commit again. */
async function runAgain(
  { deliveryId, sender }: Delivery,
  body: Extract<DeliveryBody, { kind: 'check_run' | 'check_suite' }>,
  repository: Repository,
  deps: HandleDeps,
): Promise<DeliveryOutcome> {
  const source = body.kind === 'check_suite' ? undefined : await sourceOfRun(body.externalId, deps)
  const { branch, ...pulls } = source === undefined ? placeOfCheck(body) : placeOfRun(source, repository)
  if (branch === undefined) return ignored('the commit is on no branch of the repository')
  const again = { id: sha256(deliveryId).slice(0, 16), hadRun: source !== undefined }
  return lookAtBranch({ repository, branch, author: sender?.login ?? '', again, ...pulls }, deps)
}

/** Of a person's pull request nothing is published, this time either. That of a fork has no branch here. */
function placeOfRun(
  { branch, ref, pullRequest: number, isFork }: RepositorySource,
  { defaultBranch: baseRef }: Repository,
) {
  const ofPull = number !== undefined && { pull: { number, baseRef, isFork } }
  return { branch: isFork && ofPull ? ref : branch, ...ofPull }
}

/** Of a check without a run: a suite, or what says that the settings are wrong. */
function placeOfCheck({ headBranch, pulls }: Extract<DeliveryBody, { kind: 'check_run' | 'check_suite' }>) {
  const theirs = pulls.filter(({ headRef }) => !headRef.startsWith(ownBranches))
  const found = theirs.find(({ headRef }) => headRef === headBranch) ?? theirs[0]
  const branch = headBranch ?? found?.headRef
  if (found === undefined) return { branch }
  const { number, headRef, baseRef } = found
  return { branch, orPull: { branch: headRef, pull: { number, baseRef, isFork: false } } }
}

async function sourceOfRun(runId: string, { ledger }: Pick<HandleDeps, 'ledger'>) {
  const run = await ledger.getRun(runId).catch(undefinedOn('RUN_001'))
  return run?.request.repository
}

async function noteInstallation(
  { installationId }: Delivery,
  body: Extract<DeliveryBody, { kind: 'installation' | 'repositories' }>,
  { installations, project }: HandleDeps,
): Promise<DeliveryOutcome> {
  if (installationId === null) return ignored('the event names no installation')
  const { account } = body
  if (body.kind === 'installation' && body.action === 'deleted') {
    await installations.remove(installationId)
    return acted(`the app is not installed for ${account} any more`)
  }
  const isSuspended = body.kind === 'installation' && body.action === 'suspend'
  const { projectId } = await installations.note({ installationId, projectId: project, account, isSuspended })
  if (body.kind === 'installation') await installations.addRepositories(installationId, body.repositories)
  else {
    await installations.addRepositories(installationId, body.added)
    await installations.removeRepositories(body.removed)
  }
  const what = isSuspended ? `the app is suspended for ${account}` : `the app is installed for ${account}`
  return { ...acted(what), projectId }
}

/** Noted when its first webhook comes: that of the installation may be lost. */
async function installedRepository(
  { installationId, repository }: Delivery,
  { installations, project }: HandleDeps,
): Promise<Repository | undefined> {
  if (installationId === null || repository === null) return undefined
  const { defaultBranch, ...named } = repository
  const account = repository.owner
  const known = await installations.find(installationId)
  if (known?.isSuspended === true) return undefined
  const { projectId } =
    known ?? (await installations.note({ installationId, projectId: project, account, isSuspended: false }))
  await installations.addRepositories(installationId, [named])
  const found: InstalledRepository = { ...named, installationId, projectId }
  return { ...found, defaultBranch }
}

/** `owner/name` and the ref of a delivery, as its list shows them. */
export function placeOf({ repository, body }: Delivery): Pick<HandledDelivery, 'repository' | 'ref' | 'action'> {
  const ref = body.kind === 'push' ? body.ref : body.kind === 'pull_request' ? body.head.ref : null
  const action = 'action' in body ? body.action : null
  return { repository: repository && fullNameOf(repository), ref, action }
}
