import type { DeliveryBody, DeliveryOutcome } from '#code-hosts/delivery.ts'
import type { InstalledRepository } from '#code-hosts/installations.ts'
import { AppError, hasCode, undefinedOn } from '#domain/error.ts'
import { RunId } from '#domain/ids.ts'
import { Publication, type PublishedPull } from '#domain/publication.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { GitHubApp } from '#code-hosts/github-client.ts'
import { openReads } from '../github/repository-reads.ts'
import { openPullRequests } from '../github/pull-requests.ts'
import { cell, code } from '#publication/markdown.ts'
import type { PublishingRuns } from '../publications/publishing-runs.ts'
import type { ReviewCommands } from './review-commands.ts'

export type RequestDeps = {
  /** The account as which the app writes. */
  botLogin: string
  app: Pick<GitHubApp, 'clientFor'>
  ledger: Pick<Ledger, 'getRun' | 'notePublication'>
  publishing: PublishingRuns
  review: ReviewCommands
}

type At = { repository: InstalledRepository }
type Sender = { login: string; isBot: boolean } | null

const ignored = (reason: string): DeliveryOutcome => ({ outcome: 'ignored', reason })
const acted = (reason: string, runId?: RunId): DeliveryOutcome => ({
  outcome: 'acted',
  reason,
  ...(runId && { runId }),
})

/** Who may say what is done with a run's changes. */
const mayWrite = ['admin', 'write', 'maintain']

/** The buttons of a check run. */
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
    await change(
      run.runId,
      (one) => ({ ...one, isAsked: true, isDismissed: false, fault: null, isSettled: false }),
      deps,
    )
    return acted(`${login} accepts ${count} changes`, run.runId)
  }
  if (identifier === 'open_pull_request') {
    await change(
      run.runId,
      (one) => ({ ...one, isAsked: true, isDismissed: false, fault: null, isSettled: false }),
      deps,
    )
    return acted(`${login} asks for a pull request`, run.runId)
  }
  if (identifier === 'dismiss') {
    await change(run.runId, (one) => ({ ...one, isDismissed: true, isAsked: false, isSettled: false }), deps)
    return acted(`${login} dismisses the run`, run.runId)
  }
  return ignored(`the check run has no button ${JSON.stringify(identifier)}`)
}

/** A pull request was merged or closed; of ours, that is noted in its run. */
export async function takePullEnd(
  { number, isMerged }: Extract<DeliveryBody, { kind: 'pull_request' }>,
  { repository, sender }: At & { sender: Sender },
  deps: RequestDeps,
): Promise<DeliveryOutcome> {
  if (sender?.login === deps.botLogin) return ignored('the app itself has closed it')
  const runId = await deps.publishing.runOfPull(repository.id, number)
  const run = await findRun(runId, deps)
  if (run === undefined) return ignored('the pull request is none of ours')
  const state = isMerged ? ('merged' as const) : ('closed' as const)
  const pull = run.publication?.pulls.find((one) => one.number === number)
  if (pull === undefined || pull.state === state) return ignored(`it is known that it was ${state}`)
  if (state === 'closed' && (await isJudged(repository, pull, deps))) await declineAll(run, pull, deps)
  const data = { number, url: pull.url, state, by: sender?.login ?? null, change_sets: pull.changeSetIds.length }
  const event = { event: 'publication.ended', phase: 'publication', origin, data } as const
  // Each run has to know what of it was in there in the end. This one is the last, since it says that the end is known.
  for (const { runId: former, changeSetIds } of pull.carried) {
    const ended = { ...pull, state, changeSetIds, carried: [] }
    const withEnded = (one: Publication): Publication => {
      const others = one.pulls.filter((other) => other.number !== number)
      return { ...one, pulls: [...others, ended], isSettled: false }
    }
    await change(former, withEnded, deps).catch(undefinedOn('RUN_001'))
  }
  const withState = (one: Publication): Publication => {
    const pulls = one.pulls.map((other) => (other.number === number ? { ...other, state } : other))
    return { ...one, pulls, isSettled: false }
  }
  await change(run.runId, withState, deps, [event])
  return acted(`pull request ${number} was ${state}`, run.runId)
}

/** Somebody wants a pull request after all: what it has may be proposed again. */
export async function takePullReopened(
  { number }: Extract<DeliveryBody, { kind: 'pull_request' }>,
  { repository }: At,
  deps: RequestDeps,
): Promise<DeliveryOutcome> {
  const run = await findRun(await deps.publishing.runOfPull(repository.id, number), deps)
  const pull = run?.publication?.pulls.find((one) => one.number === number)
  if (run === undefined || pull === undefined) return ignored('the pull request is none of ours')
  for (const { runId, changeSetIds } of [{ runId: run.runId, changeSetIds: pull.changeSetIds }, ...pull.carried]) {
    const one = await findRun(runId, deps)
    if (one === undefined) continue
    await deps.review.wantAgain(one, changeSetIds)
    const reopened = (other: PublishedPull) => (other.number === number ? { ...other, state: 'open' as const } : other)
    await change(runId, (known) => ({ ...known, pulls: known.pulls.map(reopened), isSettled: false }), deps)
  }
  return acted(`pull request ${number} was opened again`, run.runId)
}

/** What GitHub notes in one go has the time of the same second, or of the next. */
const oneActMs = 2_000

/**
 * Whether a closed pull request was closed as such. Whoever deletes its branch, as to have it made anew, closes it, too, and has not judged the
 * changes; whoever closes it may delete the branch afterwards. GitHub's events tell the two apart by their times.
 */
async function isJudged(
  repository: InstalledRepository,
  { branch, number }: PublishedPull,
  { app }: RequestDeps,
): Promise<boolean> {
  const client = await app.clientFor({ ...repository, repository }, { contents: 'read', pull_requests: 'read' })
  const reads = openReads(client, repository)
  if ((await reads.branchHead(branch)) !== undefined) return true
  const events = await reads.pullEvents(number)
  const last = (name: string) => events.findLast(({ event }) => event === name)?.at
  const [closed, deleted] = [last('closed'), last('head_ref_deleted')]
  return closed !== undefined && deleted !== undefined && deleted - closed >= oneActMs
}

async function declineAll(
  run: Run,
  { changeSetIds, carried }: PublishedPull,
  { ledger, review }: RequestDeps,
): Promise<void> {
  await review.decline(run, changeSetIds)
  for (const one of carried) {
    const former = await findRun(one.runId, { ledger })
    if (former !== undefined) await review.decline(former, one.changeSetIds)
  }
}

const origin = { kind: 'publisher', id: 'github' } as const
const command = /^\/remora +(retry|reject|explain)(?: +(\S.*?))? *$/m

/** `/remora retry`, `/remora reject PATH`, `/remora explain PATH` in the comments of a pull request of ours. */
export async function takeComment(
  { number, isPullRequest, author, text, commentId }: Extract<DeliveryBody, { kind: 'comment' }>,
  { repository }: At & { deliveryId: string },
  deps: RequestDeps,
): Promise<DeliveryOutcome> {
  const [, verb, argument] = command.exec(text) ?? []
  if (verb === undefined || author.isBot) return ignored('the comment has no command')
  const runId = isPullRequest ? await deps.publishing.runOfPull(repository.id, number) : undefined
  const run = await findRun(runId, deps)
  if (run === undefined) return ignored('the comment is at no pull request of ours')
  const refused = await whyNotAllowed(author.login, repository, deps)
  if (refused !== undefined) return ignored(refused)
  const key = `answer-${commentId}`
  const said = await answerTo({ verb, argument, key }, run, author.login, deps)
  const client = await deps.app.clientFor({ ...repository, repository }, { pull_requests: 'write' })
  await openPullRequests(client, repository).commentOnce(number, { key, text: said })
  await change(run.runId, (one) => ({ ...one, isSettled: false }), deps)
  return acted(`${author.login}: /remora ${verb}`, run.runId)
}

async function answerTo(
  { verb, argument, key }: { verb: string; argument: string | undefined; key: string },
  run: Run,
  login: string,
  deps: RequestDeps,
): Promise<string> {
  const { review } = deps
  try {
    if (verb === 'retry') return await review.retry(run, key)
    if (argument === undefined) return `Say of what: \`/remora ${verb} PATH\`.`
    const said = new Set<string>()
    for (const one of await runsInPulls(run, deps)) {
      const reject = () => review.rejectPath(one, argument, login)
      const answer = await (verb === 'reject' ? reject() : review.explain(one, argument))
      if (answer !== undefined) said.add(answer)
    }
    return (
      [...said].join('\n\n') ||
      `Nothing here changes ${code(argument)}. Files and definitions are named in the text above.`
    )
  } catch (error) {
    if (hasCode(error, 'STORE_001', 'STORE_002', 'HOST_001')) throw error
    return `That was not done: ${error instanceof AppError ? cell(error.message) : 'something unexpected happened.'}`
  }
}

/** The run, and the earlier ones whose changes its pull requests have. */
async function runsInPulls(run: Run, { ledger }: Pick<RequestDeps, 'ledger'>): Promise<Run[]> {
  const sources = new Set((run.publication?.pulls ?? []).flatMap(({ carried }) => carried.map(({ runId }) => runId)))
  const former = await Promise.all([...sources].map((runId) => findRun(runId, { ledger })))
  return [run, ...former.filter((one) => one !== undefined)]
}

async function runOfRepository(
  externalId: string,
  repository: InstalledRepository,
  { ledger }: Pick<RequestDeps, 'ledger'>,
): Promise<Run | undefined> {
  const runId = RunId.safeParse(externalId).data
  const run = await findRun(runId, { ledger })
  return run?.request.repository?.repository.id === repository.id ? run : undefined
}

async function findRun(runId: RunId | undefined, { ledger }: Pick<RequestDeps, 'ledger'>): Promise<Run | undefined> {
  return runId === undefined ? undefined : ledger.getRun(runId).catch(undefinedOn('RUN_001'))
}

async function whyNotAllowed(
  login: string,
  repository: InstalledRepository,
  { app }: RequestDeps,
): Promise<string | undefined> {
  const client = await app.clientFor({ ...repository, repository }, { contents: 'read' })
  const permission = await openReads(client, repository).permissionOf(login)
  return mayWrite.includes(permission) ? undefined : `${login} may not write to the repository`
}

type Change = (publication: Publication) => Publication

/** Changes what is kept of the publication, and has it looked at again. */
async function change(
  runId: RunId,
  to: Change,
  { ledger, publishing }: Pick<RequestDeps, 'ledger' | 'publishing'>,
  events: Parameters<RequestDeps['ledger']['notePublication']>[1]['events'] = [],
): Promise<void> {
  for (;;) {
    const { publication } = await ledger.getRun(runId)
    const noted = await ledger.notePublication(runId, { publication: to(publication ?? Publication.parse({})), events })
    if (noted !== undefined) break
  }
  await publishing.look(runId, Date.now())
}
