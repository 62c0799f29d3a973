import { z } from 'zod'
import { ownBranches } from '#code-hosts/code-host.ts'
import {
  type Delivery,
  type DeliveryBody,
  type DeliveryOutcome,
  type HandledDelivery,
  InstalledAccount,
} from '#code-hosts/delivery.ts'
import { undefinedWhenMissing, type GitHubApp, type GitHubClient } from '#code-hosts/github-client.ts'
import type { InstalledRepository, Installation, Installations } from '#code-hosts/installations.ts'
import { undefinedOn, unreachable } from '#domain/error.ts'
import { fullNameOf, noCommit, type RepositorySource } from '#domain/repository-source.ts'
import { type CommentDeps, takeComment } from './answer-comment.ts'
import { type BranchDeps, type BranchNews, lookAtBranch } from './look-at-branch.ts'
import { type RequestDeps, takeCheckRequest, takePullState } from './take-requests.ts'

export type HandleDeps = BranchDeps &
  RequestDeps &
  CommentDeps & {
    app: Pick<GitHubApp, 'app'>
    installations: Installations
    /** A new installation belongs to it. */
    project: string
  }

const ignored = (reason: string): DeliveryOutcome => ({ outcome: 'ignored', reason })
const acted = (reason: string): DeliveryOutcome => ({ outcome: 'acted', reason })

/** Doing it again changes nothing. It throws what may pass, as HOST_001 and STORE_001. */
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
      return { projectId, ...(await takeRepository(body, repository, deps)) }
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
  return lookAtBranch({ repository, branch: ref.slice(heads.length), author, before, isForced, delivery }, deps)
}

/** These may mean another commit on the branch. */
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
  return lookAtBranch({ repository, branch: head.ref, pull, author: author.login, delivery }, deps)
}

async function runAgain(
  delivery: Delivery,
  body: Extract<DeliveryBody, { kind: 'check_run' | 'check_suite' }>,
  repository: Repository,
  deps: HandleDeps,
): Promise<DeliveryOutcome> {
  const run =
    body.kind === 'check_suite' ? undefined : await deps.ledger.getRun(body.externalId).catch(undefinedOn('RUN_001'))
  const source = run?.request.repository
  const { branch, ...pulls } = source === undefined ? placeOfCheck(body) : placeOfRun(source, repository)
  if (branch === undefined) return ignored('the commit is on no branch of the repository')
  const again = { id: delivery.bodyHash.slice(0, 16), hadRun: source !== undefined }
  return lookAtBranch({ repository, branch, author: delivery.sender?.login ?? '', delivery, again, ...pulls }, deps)
}

/** A person's pull request gets nothing published this time either. That of a fork has no branch here. */
function placeOfRun(
  { branch, ref, pullRequest: number, isFork }: RepositorySource,
  { defaultBranch: baseRef }: Repository,
) {
  const ofPull = number !== undefined && { pull: { number, baseRef, isFork } }
  return { branch: isFork && ofPull ? ref : branch, ...ofPull }
}

/** It has no run: it is a suite, or the check which says that the settings are wrong. */
function placeOfCheck({ headBranch, pulls }: Extract<DeliveryBody, { kind: 'check_run' | 'check_suite' }>) {
  const theirs = pulls.filter(({ headRef }) => !headRef.startsWith(ownBranches))
  const pull = theirs.find(({ headRef }) => headRef === headBranch) ?? theirs[0]
  const branch = headBranch ?? pull?.headRef
  if (pull === undefined) return { branch }
  const { number, headRef, baseRef } = pull
  return { branch, orPull: { branch: headRef, pull: { number, baseRef, isFork: false } } }
}

async function noteInstallation(
  { installationId }: Delivery,
  body: Extract<DeliveryBody, { kind: 'installation' | 'repositories' }>,
  deps: HandleDeps,
): Promise<DeliveryOutcome> {
  if (installationId === null) return ignored('the event names no installation')
  const installed = await askInstallation(installationId, deps)
  if (installed === undefined) return acted(`the app is not installed for ${body.account} any more`)
  const { installations, app } = deps
  const { account, isSuspended, projectId } = installed
  if (body.kind === 'installation') await installations.addRepositories(installationId, body.repositories)
  else {
    const { isThere, isGone } = await askApp([...body.added, ...body.removed], app.app)
    await installations.addRepositories(installationId, body.added.filter(isThere))
    await installations.removeRepositories(body.removed.filter(isGone))
  }
  const what = isSuspended ? `the app is suspended for ${account}` : `the app is installed for ${account}`
  return { ...acted(what), projectId }
}

/** Webhooks come late and in any order: GitHub is asked how an installation is now. Undefined when there is none any more. */
async function askInstallation(
  installationId: number,
  { installations, project, app }: Pick<HandleDeps, 'installations' | 'project' | 'app'>,
): Promise<Installation | undefined> {
  const query = { installation_id: installationId }
  const answer = await undefinedWhenMissing(app.app.request('GET /app/installations/{installation_id}', query))
  if (answer === undefined) {
    await installations.remove(installationId)
    return undefined
  }
  const { account, suspended_at: suspendedAt } = AskedInstallation.parse(answer.data)
  const isSuspended = suspendedAt !== null
  return installations.note({ installationId, projectId: project, account, isSuspended })
}

const AskedInstallation = z.object({ account: InstalledAccount, suspended_at: z.string().nullish().default(null) })

/** Of more, which somebody takes away at once, the webhook is believed. */
const mostAsked = 100

/** GitHub says which repositories the app has now. Those that were not asked for count as there and as gone. */
async function askApp(repositories: readonly Named[], app: GitHubClient) {
  const answers = new Map<Named, boolean>()
  for (const repository of repositories.slice(0, mostAsked)) {
    const at = { owner: repository.owner, repo: repository.name }
    const answer = await undefinedWhenMissing(app.request('GET /repos/{owner}/{repo}/installation', at))
    answers.set(repository, answer !== undefined)
  }
  return {
    isThere: (repository: Named) => answers.get(repository) !== false,
    isGone: (repository: Named) => answers.get(repository) !== true,
  }
}

type Named = Pick<InstalledRepository, 'owner' | 'name'>

/** The webhook may come late: a name that another repository has by now stays. */
async function takeRepository(
  { action, former }: Extract<DeliveryBody, { kind: 'repository' }>,
  repository: Repository,
  { installations, app }: HandleDeps,
): Promise<DeliveryOutcome> {
  for (const name of [repository, ...(former === null ? [] : [former])]) {
    const kept = await installations.repositoryNamed(name)
    if (kept?.id === repository.id && !(await isNamed(repository, name, app)))
      await installations.removeRepositories([name])
  }
  return acted(`the repository was ${action}`)
}

/** Asks GitHub whether a repository has this name now. It answers for a former name, too, with the one that there is. */
async function isNamed(
  { installationId, ...repository }: Pick<InstalledRepository, 'id' | 'owner' | 'name' | 'installationId'>,
  { owner, name }: Named,
  app: HandleDeps['app'],
): Promise<boolean> {
  const asking = app.clientFor({ installationId, repository }, { contents: 'read' }).then(async (client) => {
    const answer = await undefinedWhenMissing(client.request('GET /repos/{owner}/{repo}', { owner, repo: name }))
    return answer?.data
  })
  // GitHub gives no token for a repository that is gone, or that the app does not have.
  const named = await asking.catch(undefinedOn('HOST_002', 'HOST_003'))
  const isSame = named?.full_name.toLowerCase() === `${owner}/${name}`.toLowerCase()
  return isSame && named?.id === repository.id
}

/** Notes an installation when its first webhook comes: that of the installation may be lost. */
async function installedRepository(
  { installationId, repository }: Delivery,
  deps: HandleDeps,
): Promise<Repository | undefined> {
  if (installationId === null || repository === null) return undefined
  const { defaultBranch, ...named } = repository
  const known = await deps.installations.find(installationId)
  const installed = known === undefined || known.isSuspended ? await askInstallation(installationId, deps) : known
  if (installed === undefined || installed.isSuspended) return undefined
  const addressed: InstalledRepository = { ...named, installationId, projectId: installed.projectId }
  const kept = await deps.installations.repositoryNamed(named)
  // The webhook may be of a time when another repository did not have the name yet.
  if (kept === undefined || kept.id === named.id || (await isNamed(addressed, named, deps.app)))
    await deps.installations.addRepositories(installationId, [named])
  return { ...addressed, defaultBranch }
}

export function placeOf({ repository, body }: Delivery): Pick<HandledDelivery, 'repository' | 'ref' | 'action'> {
  const ref = body.kind === 'push' ? body.ref : body.kind === 'pull_request' ? body.head.ref : null
  const action = 'action' in body ? body.action : null
  return { repository: repository && fullNameOf(repository), ref, action }
}
