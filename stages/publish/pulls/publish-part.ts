import { undefinedOn, AppError } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { modelKindOf } from '#domain/model-kind.ts'
import type { PlannedCommit } from '#domain/planned-commit.ts'
import type { Publication, PublishedPull } from '#domain/publication.ts'
import type { CommitId } from '#domain/repository-source.ts'
import type { Run } from '#domain/run.ts'
import type { Composition } from '#store/objects/composition.ts'
import { checkAsked, checkEvidence, checkPublishable } from '../check-publishable.ts'
import { commitMessage } from '../commit-message.ts'
import { planCommits } from '../plan-commits.ts'
import { pullText } from '../pull-text.ts'
import { type Publishable, type PublishableDeps, readPublishable } from '../read-publishable.ts'
import type { RepositorySettings } from '#settings/github-settings.ts'
import type { OpenPull } from '../github/pull-requests.ts'
import type { DeclineDeps, PullPart } from './choose-parts-of.ts'
import { endLostPulls, endPull, findRun } from './noted-pulls.ts'
import { type OpenPullsDeps, writtenHeads } from './open-pulls.ts'
import type { PublishingRuns } from './publishing-runs.ts'
import type { Note, Publishing, RunHost } from './run-host.ts'
import { type WantedPull, writePull, type WrittenPull } from './write-pull.ts'

export type PartDeps = DeclineDeps &
  PublishableDeps &
  OpenPullsDeps & {
    publishing: Pick<PublishingRuns, 'countPull' | 'isUnlabelled' | 'noteLabelled' | 'notePull'>
    publicUrl: string | undefined
  }

/** Bounds the earlier runs that a pull request is known to carry. */
const mostFormer = 30

const origin = { kind: 'publisher', id: 'github' } as const

export type PartOrder = {
  part: PullPart
  carriesFrom: readonly RunId[]
  target: string
  branch: string
  settings: RepositorySettings
  composition: Composition
  /** The open pull request of the branch. */
  pull: OpenPull | undefined
}

/** Makes one pull request, or brings it up to date; one of which nothing is left is closed. PUBLISH_001 to 003 where it must not be. */
export async function publishPart(
  run: Run,
  { part, carriesFrom, target, branch, settings, composition, pull }: PartOrder,
  { publication, note, host }: Publishing,
  deps: PartDeps,
): Promise<void> {
  const publishable = await readPublishable(run, composition, deps, [...part.own, ...part.carried])
  const commits = await planCommits(publishable)
  if (commits.length === 0) return endEmpty(run, { pull, target }, host, deps)
  checkEvidence(commits, publishable)
  checkAsked(commits, new Set([...part.own, ...part.carried].map(({ set }) => set.changeSetId)))
  const base = await baseFor(run, { target, commits, publishable, settings }, host)
  const text = pullText({
    ...publishable,
    commits,
    target,
    carried: commits.flatMap((commit) => commit.changeSetIds).filter((id) => !part.changeSetIds.includes(id)).length,
    left: part.left.filter(({ reason }) => reason === 'later').length,
    lost: part.lost,
    runUrl: deps.publicUrl && `${deps.publicUrl}/v1/runs/${run.runId}`,
    isRehearsal: modelKindOf(run.request.labels) === 'rehearsal',
    takesComments: true,
  })
  const wanted: WantedPull = {
    branch,
    target,
    base,
    commits: commits.map((commit) => ({ message: commitMessage(commit, publishable), files: commit.files })),
    written: await writtenHeads(run, { branch, number: pull?.number }, deps),
    text,
    isDraft: settings.draft || composition.gate?.verdict !== 'passed',
    settings,
    beforeOpening: () => countToday(run, branch, settings, deps),
    isLabelled: (number) => isLabelled(host.source.repository.id, number, deps),
  }
  const written = await writePull(wanted, settings.allowWorkflows ? await host.withWorkflows() : host)
  const ids = new Set(commits.flatMap(({ changeSetIds }) => changeSetIds))
  const before = publication.pulls.find(({ number }) => number === written.number)?.state
  const from = [...new Set([...carriesFrom, ...(await formerOwners(run, written, deps))])]
  await notePull({ written, before, part, carriesFrom: from, branch, ids }, note)
  await finishPull(run, written, { host, settings }, deps)
}

/** Returns the newest earlier runs that have had the pull request: when it ends, they are told as well. */
async function formerOwners(
  { runId, request }: Run,
  { number }: WrittenPull,
  { ledger, publishing }: PartDeps,
): Promise<RunId[]> {
  const owner = await findRun(await publishing.runOfPull(request.repository?.repository.id ?? 0, number), { ledger })
  const pull = owner?.publication?.pulls.find((known) => known.number === number)
  if (owner === undefined || pull === undefined) return []
  const known = [owner.runId, ...pull.carried.map((part) => part.runId)].filter((id) => id !== runId)
  return known.toSorted().slice(-mostFormer)
}

/** Notes whose the pull request is, which its webhooks wait for. Labels take seconds, so they come after that. */
async function finishPull(
  { runId }: Run,
  { number, isNew }: WrittenPull,
  { host, settings }: { host: RunHost; settings: RepositorySettings },
  deps: PartDeps,
): Promise<void> {
  const repositoryId = host.source.repository.id
  // After it was noted in the run: whoever takes the pull request over reads there what it has.
  await deps.publishing.notePull(repositoryId, number, { runId, isNew })
  // Its webhook was nobody's until now.
  await endLostPulls(runId, host, deps, [number])
  if (!isNew) return
  await host.labelPull(number, settings)
  await deps.publishing.noteLabelled(repositoryId, number)
}

async function isLabelled(repositoryId: number, number: number, { publishing }: PartDeps): Promise<boolean> {
  const owner = await publishing.runOfPull(repositoryId, number)
  return owner !== undefined && !(await publishing.isUnlabelled(repositoryId, number))
}

async function endEmpty(
  run: Run,
  { pull, target }: { pull: OpenPull | undefined; target: string },
  host: RunHost,
  deps: PartDeps,
): Promise<void> {
  if (pull === undefined) return
  await host.requireOwn({ branch: pull.branch, baseBranch: target, written: await writtenHeads(run, pull, deps) })
  await host.commentOnce(pull.number, {
    key: `empty-${run.runId}`,
    text: `Run ${run.runId} has nothing for this pull request any more: what was in it is rejected, done by somebody, or in another pull request. So this is closed.`,
  })
  // It may be an earlier run that has it.
  const owner = await findRun(await deps.publishing.runOfPull(host.source.repository.id, pull.number), deps)
  const noted = owner?.publication?.pulls.find(({ number }) => number === pull.number)
  if (owner !== undefined && noted?.state === 'open') await endPull(owner, noted, { state: 'closed', by: null }, deps)
  await host.closePull(pull.number)
}

type BasedCommits = Pick<PartOrder, 'target' | 'settings'> & {
  commits: readonly PlannedCommit[]
  publishable: Publishable
}

/** Returns the head of the branch, or, where that has other files, the commit of the run: then git merges. PUBLISH_001. */
async function baseFor(
  run: Run,
  { target, commits, publishable, settings }: BasedCommits,
  host: RunHost,
): Promise<CommitId> {
  const head = await headOf(host, target)
  const check = async (commit: CommitId) => {
    const { allowWorkflows, allowPaths } = settings
    const readBase = ({ baseHash }: { baseHash: string }) => publishable.readBlob(baseHash)
    await checkPublishable(commits, { tree: await host.readTree(commit), readBase, allowWorkflows, allowPaths })
  }
  const isFine = await check(head).then(() => true, undefinedOn('PUBLISH_001'))
  if (isFine === true) return head
  const other = run.commit ?? head
  await check(other)
  return other
}

/** Throws HOST_004 where there is no such branch. */
export async function headOf(host: Pick<RunHost, 'findBranch'>, target: string): Promise<CommitId> {
  const head = (await host.findBranch(target))?.commit
  if (head === undefined) throw new AppError('HOST_004', `there is no branch ${target} any more`)
  return head
}

/** Throws PUBLISH_003 when as many were opened today as may be. */
async function countToday(
  run: Run,
  branch: string,
  { maxPullsPerDay }: RepositorySettings,
  { publishing }: PartDeps,
): Promise<void> {
  const repositoryId = run.request.repository?.repository.id ?? 0
  const day = new Date().toISOString().slice(0, 10)
  const count = await publishing.countPull(repositoryId, { day, pull: `${run.runId} ${branch}` })
  if (count <= maxPullsPerDay) return
  throw new AppError('PUBLISH_003', `${maxPullsPerDay} pull requests were opened today (github.max_pulls_per_day)`)
}

type NotedPull = Pick<PartOrder, 'part' | 'carriesFrom' | 'branch'> & {
  written: WrittenPull
  /** Holds the state in which the run had noted it when this began. */
  before: PublishedPull['state'] | undefined
  /** Holds the change sets that are in the pull request. */
  ids: ReadonlySet<string>
}

async function notePull({ written, before, part, carriesFrom, branch, ids }: NotedPull, note: Note): Promise<void> {
  const { isNew, ...made } = written
  const { agent } = part
  const there = part.carried.filter(({ set }) => ids.has(set.changeSetId))
  const foreign = new Set(there.map(({ set }) => set.changeSetId))
  const carried = carriesFrom.map((runId) => ({
    runId,
    changeSetIds: there.flatMap((file) => (file.runId === runId ? file.of : [])),
  }))
  const changeSetIds = [...ids].filter((id) => !foreign.has(id))
  const pull: PublishedPull = { ...made, agent, branch, state: 'open', changeSetIds, carried }
  const { number, url, head, isDraft } = pull
  const known = (await note({})).pulls.find((noted) => noted.number === number)
  const counts = { change_sets: changeSetIds.length, carried: there.length }
  const data = { number, url, branch, agent, ...counts, commit: head, draft: isDraft }
  const told = { phase: 'publication', origin, data } as const
  const isFirst = known === undefined && isNew
  const event: NewEvent = isFirst ? { event: 'publication.opened', ...told } : { event: 'publication.updated', ...told }
  const isSame = known?.head === pull.head
  const withPull = ({ pulls }: Publication) => {
    const kept = pulls.find((noted) => noted.number === number)
    // Somebody has ended it meanwhile.
    const isEnded = kept !== undefined && kept.state !== 'open' && kept.state !== before
    return [...pulls.filter((listed) => listed !== kept), isEnded ? kept : pull]
  }
  await note((fresh) => ({ pulls: withPull(fresh), fault: null }), isSame ? [] : [event])
}
