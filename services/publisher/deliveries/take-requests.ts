import { requireGenuine } from '#domain/genuine-run.ts'
import type { DeliveryBody, DeliveryOutcome } from '#code-hosts/delivery.ts'
import type { InstalledRepository } from '#code-hosts/installations.ts'
import { RunId } from '#domain/ids.ts'
import { askedFor } from '#domain/publication.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { GitHubApp } from '#code-hosts/github-client.ts'
import { openReads } from '#stages/publish/github/repository-reads.ts'
import { changePublication, endPull, findRun, isJudged, reopenPull } from '#stages/publish/pulls/noted-pulls.ts'
import type { PublishingRuns } from '#stages/publish/pulls/publishing-runs.ts'
import type { ReviewCommands } from './review-commands.ts'

export type RequestDeps = {
  /** The app writes as this account. */
  botLogin: string
  app: Pick<GitHubApp, 'clientFor'>
  ledger: Pick<Ledger, 'getRun' | 'notePublication'>
  publishing: PublishingRuns
  review: ReviewCommands
}

type At = { repository: InstalledRepository }
type Sender = { login: string; isBot: boolean } | null

const ignored = (reason: string): DeliveryOutcome => ({ outcome: 'ignored', reason })
const acted = (reason: string, runId: RunId): DeliveryOutcome => ({ outcome: 'acted', reason, runId })

/** Who has one of these says what is done with a run's changes. */
const mayWrite = ['admin', 'write', 'maintain']

export async function takeCheckRequest(
  { externalId, identifier }: Extract<DeliveryBody, { kind: 'check_run' }>,
  { repository, sender }: At & { sender: Sender },
  deps: RequestDeps,
): Promise<DeliveryOutcome> {
  const run = await runOfRepository(externalId, repository, deps)
  if (run === undefined) return ignored('the check run is of no run that is kept')
  const login = sender?.login ?? ''
  const refused = await whyNotAllowed(login, repository, deps)
  if (refused !== undefined) return ignored(refused)
  if (identifier === 'accept_all') {
    const count = await deps.review.acceptAll(run, login)
    await changePublication(run.runId, askedFor, deps)
    return acted(`${login} accepts ${count} changes`, run.runId)
  }
  if (identifier === 'open_pull_request') {
    await changePublication(run.runId, askedFor, deps)
    return acted(`${login} asks for a pull request`, run.runId)
  }
  if (identifier === 'dismiss') {
    const dismissed = { isDismissed: true, isAsked: false, isSettled: false }
    await changePublication(run.runId, (publication) => ({ ...publication, ...dismissed }), deps)
    return acted(`${login} dismisses the run`, run.runId)
  }
  return ignored(`the check run has no button ${JSON.stringify(identifier)}`)
}

/** What counts is how the pull request is now: a webhook may come late, or after a newer one. */
export async function takePullState(
  { action, number, isMerged }: Extract<DeliveryBody, { kind: 'pull_request' }>,
  { repository, sender }: At & { sender: Sender },
  deps: RequestDeps,
): Promise<DeliveryOutcome> {
  const { app, publishing, review } = deps
  if (action === 'closed' && sender?.login === deps.botLogin) return ignored('the app itself has closed it')
  const run = await findRun(await publishing.runOfPull(repository.id, number), deps)
  const pull = run?.publication?.pulls.find((known) => known.number === number)
  if (run === undefined || pull === undefined) return ignored('the pull request is none of ours')
  const client = await app.clientFor({ ...repository, repository }, { contents: 'read', pull_requests: 'read' })
  const reads = openReads(client, repository)
  const stateThen = action === 'reopened' ? 'open' : isMerged ? 'merged' : 'closed'
  const state = (await reads.findPull(number))?.state ?? stateThen
  if (pull.state === state) return ignored(`it is known that it is ${state}`)
  if (state === 'open') {
    await reopenPull(run, pull, review.wantAgain, deps)
    return acted(`pull request ${number} was opened again`, run.runId)
  }
  const isDeclined = state === 'closed' && (await isJudged(pull, reads))
  const by = state === stateThen ? (sender?.login ?? null) : null
  const isDeleted = state === 'closed' && !isDeclined
  const end = { state, by, ...(isDeclined && { decline: review.decline }), ...(isDeleted && { isDeleted }) }
  await endPull(run, pull, end, deps)
  return acted(`pull request ${number} was ${state}`, run.runId)
}

async function runOfRepository(
  externalId: string,
  repository: InstalledRepository,
  { ledger }: Pick<RequestDeps, 'ledger'>,
): Promise<Run | undefined> {
  const run = await findRun(RunId.safeParse(externalId).data, { ledger })
  if (run !== undefined) requireGenuine(run)
  return run?.request.repository?.repository.id === repository.id ? run : undefined
}

/** Returns undefined when the account may say what is done with the changes. */
export async function whyNotAllowed(
  login: string,
  repository: InstalledRepository,
  { app }: Pick<RequestDeps, 'app'>,
): Promise<string | undefined> {
  const client = await app.clientFor({ ...repository, repository }, { contents: 'read' })
  const permission = await openReads(client, repository).permissionOf(login)
  return mayWrite.includes(permission) ? undefined : `${login} may not write to the repository`
}
