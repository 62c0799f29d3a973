import type { InstalledRepository } from '#code-hosts/installations.ts'
import { type Branch, branchOf, type BranchRuns } from '#code-hosts/branch-runs.ts'
import { ownBranches } from '#code-hosts/code-host.ts'
import type { Delivery } from '#code-hosts/delivery.ts'
import { type AppError, hasCode, undefinedOn } from '#domain/error.ts'
import { newRunId, type RunId } from '#domain/ids.ts'
import { type ModelKind, modelLabel } from '#domain/model-kind.ts'
import { type CommitId, fullNameOf, noCommit, type RepositorySource } from '#domain/repository-source.ts'
import type { RunRequest } from '#domain/run.ts'
import type { RepositorySettings } from '#settings/github-settings.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import type { Producer } from '#store/queues/producer.ts'
import type { GitHubApp, GitHubClient } from '#code-hosts/github-client.ts'
import { openGitHubHost, type OwnApp } from '#stages/publish/github/github-host.ts'
import { openPullRequests } from '#stages/publish/github/pull-requests.ts'
import { openReads, type RepositoryReads } from '#stages/publish/github/repository-reads.ts'
import type { PublishingRuns } from '#stages/publish/pulls/publishing-runs.ts'
import { tellWrongSettings } from '#stages/publish/pulls/tell-check.ts'
import {
  isIgnoredAuthor,
  maxSettingsBytes,
  type RequestSettings,
  repositorySettingsOf,
  whyNotBranch,
} from '#stages/publish/repository-settings.ts'
import { tellWaitingRun, type WaitingRunDeps } from './tell-waiting-run.ts'

export type BranchDeps = OwnApp &
  WaitingRunDeps & {
    app: Pick<GitHubApp, 'clientFor'>
    ledger: Pick<Ledger, 'cancel' | 'createRun'>
    branchRuns: BranchRuns
    publishing: Pick<PublishingRuns, 'look' | 'runOfPull'>
    producer: Pick<Producer, 'add'>
    operator: RepositorySettings
    allowsSetups: boolean
    modelKind: ModelKind | undefined
  }

type Pull = { number: number; baseRef: string; isFork: boolean }

/** Says that something happened to a branch. The branch counts as it is now, not as it was when the news was sent. */
export type BranchNews = {
  repository: InstalledRepository & { defaultBranch: string }
  /** The commit of `pull` may be in another repository. */
  branch: string
  pull?: Pull
  /** Holds the pull request that the news is of, where `branch` is not worked on by itself. */
  orPull?: { branch: string; pull: Pull }
  /** Names the account that pushed, opened the pull request, or asked for the run. */
  author: string
  /** The commit before the push. */
  before?: CommitId
  isForced?: boolean
  /** Has told of it. */
  delivery: Delivery
  /** Somebody asked for a run, also of a commit that has one. */
  again?: { id: string; hadRun: boolean }
}

export type BranchOutcome =
  | { outcome: 'ignored'; reason: string }
  | { outcome: 'acted' | 'run'; reason: string; runId: RunId; projectId: string }

const origin = { kind: 'publisher', id: 'github' } as const

/**
 * Starts a run for the commit that a branch has now, unless it has one, and supersedes that of an older commit: a webhook that comes twice or
 * late leads to the same run. One whose plan waits for an approval is told instead. Where an open pull request may conflict, a push that the settings leave out starts a run, too: compared with
 * its own commit, it plans nothing and carries what is open.
 */
export async function lookAtBranch(given: BranchNews, deps: BranchDeps): Promise<BranchOutcome> {
  const { repository, author } = given
  const ignored = (reason: string): BranchOutcome => ({ outcome: 'ignored', reason })
  if (given.branch.startsWith(ownBranches) && given.pull?.isFork !== true)
    return ignored('the branch is one of our own')
  const client = await deps.app.clientFor({ ...repository, repository }, { contents: 'read', pull_requests: 'read' })
  const reads = openReads(client, repository)
  const { settings, request } = await settingsFor(given, reads, deps)
  const news = ofBranchOrPull(given, settings)
  const { branch } = news
  const refused = whyNotWorkedOn(news, settings)
  const behind = refused === undefined ? [] : await pullsBehind(news, client, deps)
  if (refused !== undefined && behind.length === 0) return ignored(refused)
  const commit = await headOf(news, reads)
  if (commit === undefined) return ignored(`the branch ${branch} is gone`)
  if (await changesNothing(news, commit, reads)) return ignored('the forced push changes nothing')
  const source = sourceOf(news, commit)
  const isKept = refused !== undefined
  if (isKept && (await deps.branchRuns.find(branchOf(source)))?.current.commit === commit) return ignored(refused)
  const key = isKept ? keptBranch(source) : branchOf(source)
  const { projectId } = repository
  const pushed = `${branch} at ${commit.slice(0, 12)}, pushed by ${author}`
  if (!isKept && news.again === undefined) {
    const push = { commit, objective: settings.objective, delivery: news.delivery }
    const told = await tellWaitingRun(key, push, reads, deps)
    const reason = `${pushed}, gets a run after ${told}, whose plan waits for an approval`
    if (told !== undefined) return { outcome: 'acted', reason, runId: told, projectId }
  }
  const since = isKept ? { commit } : ((await sinceOf(news, commit, { key, reads, deps })) ?? null)
  const runId = newRunId(Date.now())
  const begun = await deps.branchRuns.begin(key, { commit, runId, since }, news.again?.id)
  const compared = begun.run.since === null ? source : { ...source, since: begun.run.since }
  await createRun(begun.run.runId, { news, source: compared, settings, request }, deps)
  if (begun.supersedes !== null) await supersede(begun.supersedes, begun.run.runId, { news, settings }, deps)
  const what = begun.run.runId === runId ? 'a run of' : 'there is a run of'
  const why = isKept
    ? `, only to keep what is open (${behind.map((number) => `#${number}`).join(', ')}): ${refused}`
    : ''
  return { outcome: 'run', reason: `${what} ${pushed}${why}`, runId: begun.run.runId, projectId }
}

/** CONFIG_002 to 004 where the settings of the default branch are wrong, which the commit shows, too. */
async function settingsFor(given: BranchNews, reads: RepositoryReads, deps: BranchDeps) {
  const { repository } = given
  const text = await reads.readText('remora.yaml', repository.defaultBranch, maxSettingsBytes)
  try {
    return repositorySettingsOf(text, { name: fullNameOf(repository), operator: deps.operator })
  } catch (error) {
    if (hasCode(error, 'CONFIG_002', 'CONFIG_003', 'CONFIG_004')) await tellFault(given, error, reads, deps)
    throw error
  }
}

/** Shows the fault at the commit. While the repository's settings cannot be read, the operator's say which pushes count. */
async function tellFault(given: BranchNews, fault: AppError, reads: RepositoryReads, deps: BranchDeps): Promise<void> {
  const news = ofBranchOrPull(given, deps.operator)
  if (whyNotWorkedOn(news, deps.operator) !== undefined) return
  const commit = await headOf(news, reads)
  if (commit === undefined) return
  const known = await deps.branchRuns.find(branchOf(sourceOf(news, commit)))
  // What a run has found at the commit is not hidden.
  if (news.again === undefined && known?.current.commit === commit) return
  const { repository } = news
  const telling = async () => {
    const client = await deps.app.clientFor({ ...repository, repository }, { checks: 'write' })
    const host = openGitHubHost(client, repository, deps)
    await tellWrongSettings({ commit, defaultBranch: repository.defaultBranch, fault }, host)
  }
  // Without the right to write check runs only `remora github deliveries` shows it.
  await telling().catch(undefinedOn('HOST_003', 'HOST_004'))
}

/** Takes the news as a push to the branch where that is worked on, and else as one to its pull request. */
function ofBranchOrPull({ orPull, ...news }: BranchNews, settings: RepositorySettings): BranchNews {
  return orPull === undefined || whyNotWorkedOn(news, settings) === undefined ? news : { ...news, ...orPull }
}

async function headOf({ branch, pull }: BranchNews, reads: RepositoryReads): Promise<CommitId | undefined> {
  return pull?.isFork === true ? (await reads.findPull(pull.number))?.head : reads.branchHead(branch)
}

function whyNotWorkedOn(
  { branch, author, pull, again, repository }: BranchNews,
  settings: RepositorySettings,
): string | undefined {
  // A check run that is asked for again has had a run before. Whether the code of forks runs here is asked each time.
  if (again?.hadRun === true && pull?.isFork !== true) return undefined
  if (isIgnoredAuthor(author, settings)) return `what ${author} pushes is not worked on (github.ignore_authors)`
  if (pull === undefined) return whyNotBranch(branch, repository.defaultBranch, settings)
  if (!settings.pullRequests) return 'pull requests are not worked on (github.pull_requests)'
  return pull.isFork && !settings.forks ? 'pull requests of forks are not worked on (github.forks)' : undefined
}

async function changesNothing(
  { isForced, before, again }: BranchNews,
  commit: CommitId,
  reads: RepositoryReads,
): Promise<boolean> {
  if (isForced !== true || again !== undefined || before === undefined || before === noCommit) return false
  // The commit before may be collected at the host by now: then nothing is known of it.
  const trees = await Promise.all([reads.treeOf(commit), reads.treeOf(before).catch(() => undefined)])
  return trees[0] === trees[1]
}

/** Finds the last completed run of the branch, else what it was compared with, else the commit before. Undefined: all of it is new. */
async function sinceOf(
  { pull, before, branch, repository }: BranchNews,
  commit: CommitId,
  { key, reads, deps }: { key: Branch; reads: RepositoryReads; deps: BranchDeps },
): Promise<RepositorySource['since']> {
  const known = await deps.branchRuns.find(key)
  if (known !== undefined) return known.completed ?? known.current.since ?? undefined
  if (branch === repository.defaultBranch)
    return before === undefined || before === noCommit ? undefined : { commit: before }
  const base = await reads.mergeBase(pull?.baseRef ?? repository.defaultBranch, commit)
  return base === undefined ? undefined : { commit: base }
}

/** Finds our open pull requests to the branch that have files which the branch has changed since: they may conflict. */
async function pullsBehind(
  { repository, branch, pull: theirs, again }: BranchNews,
  client: GitHubClient,
  { publishing, ledger }: BranchDeps,
): Promise<number[]> {
  if (theirs !== undefined || again !== undefined) return []
  const reads = openReads(client, repository)
  const behind: number[] = []
  for (const { number } of await openPullRequests(client, repository).openPulls(branch)) {
    const runId = await publishing.runOfPull(repository.id, number)
    const run = runId === undefined ? undefined : await ledger.getRun(runId).catch(undefinedOn('RUN_001'))
    const pull = run?.publication?.pulls.find((known) => known.number === number)
    if (pull === undefined) continue
    const [own, since] = await Promise.all([
      reads.changedPaths(pull.base, pull.head),
      reads.changedPaths(pull.base, branch),
    ])
    if (own === undefined || since === undefined || [...own].some((path) => since.has(path))) behind.push(number)
  }
  return behind
}

/** Runs that only keep pull requests are none with which later pushes are compared. No branch has a space in its name. */
function keptBranch(source: RepositorySource): Branch {
  const { repositoryId, branch } = branchOf(source)
  return { repositoryId, branch: `${branch} kept` }
}

function sourceOf({ repository, branch, pull }: BranchNews, commit: CommitId): RepositorySource {
  const { id, owner, name, installationId } = repository
  return {
    host: 'github',
    installationId,
    repository: { id, owner, name },
    ref: pull?.isFork === true ? `refs/pull/${pull.number}/head` : `refs/heads/${branch}`,
    commit,
    ...(pull?.isFork === true ? {} : { branch }),
    ...(pull === undefined ? {} : { pullRequest: pull.number }),
    isFork: pull?.isFork ?? false,
  }
}

type NewRun = {
  news: BranchNews
  source: RepositorySource
  settings: RepositorySettings
  request: RequestSettings
}

/** Doing it again changes nothing. */
async function createRun(runId: RunId, { news, source, settings, request }: NewRun, deps: BranchDeps): Promise<void> {
  const { projectId } = news.repository
  const { setup, ...wanted } = request
  const { objective, approval } = settings
  const whole: RunRequest = {
    ...wanted,
    agents: [...new Set(settings.agents)],
    ...(objective !== undefined && { objective, ...(approval === 'plan' && { approval }) }),
    dryRun: false,
    limits: {},
    priority: 5,
    accept: 'auto',
    repository: source,
    labels: { ...(deps.modelKind && { [modelLabel]: deps.modelKind }) },
    ...(setup !== undefined && deps.allowsSetups && !source.isFork && { setup }),
  }
  const data = { agents: whole.agents, objective, repository: fullNameOf(source.repository), commit: source.commit }
  await deps.ledger.createRun({
    runId,
    projectId,
    request: whole,
    uploadKey: objectKeys.upload(projectId, runId),
    traceparent: null,
    acceptedEvent: { event: 'run.accepted', phase: 'snapshot', origin, data },
  })
  await deps.publishing.look(runId, Date.now())
  await deps.producer.add('snapshots', runId, { run_id: runId, traceparent: null })
}

async function supersede(
  former: RunId,
  by: RunId,
  { news: { again }, settings }: Pick<NewRun, 'news' | 'settings'>,
  { ledger, publishing }: BranchDeps,
): Promise<void> {
  const reason = `superseded by run ${by}${again === undefined ? ' of a newer push' : ', which somebody has asked for'}`
  await ledger.cancel(former, { reason, origin, letFinish: settings.supersede === 'finish' })
  await publishing.look(former, Date.now())
}
