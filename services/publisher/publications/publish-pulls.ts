import { askPart, type AskPatchDeps, type PatchAnswer } from '#composition/ask-patch.ts'
import { AppError, undefinedOn } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import { modelKindOf } from '#domain/model-kind.ts'
import type { RunId } from '#domain/ids.ts'
import type { Publication, PublishedPull } from '#domain/publication.ts'
import type { CommitId } from '#domain/repository-source.ts'
import type { Run } from '#domain/run.ts'
import type { Composition } from '#objects/composition.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { checkEvidence, checkPublishable } from '#publication/check-publishable.ts'
import { commitMessage } from '#publication/commit-message.ts'
import { planCommits } from '#publication/plan-commits.ts'
import { type Publishable, type PublishableDeps, readPublishable } from '#publication/read-publishable.ts'
import { nextWindow } from '#settings/schedule.ts'
import type { RepositorySettings } from '../deliveries/repository-settings.ts'
import type { OpenPull } from '../github/pull-requests.ts'
import { choosePartsOf, type ChooseDeps, type PullPart } from './choose-parts-of.ts'
import { branchFor, type OpenPullsDeps, ownPulls, takenOverBy, withOpenPulls, writtenHeads } from './open-pulls.ts'
import { endLostPulls, endPull, findRun } from './noted-pulls.ts'
import type { PublishingRuns } from './publishing-runs.ts'
import { pullText } from '#publication/pull-text.ts'
import type { Note, Publishing, RunHost } from './run-host.ts'
import { type WantedPull, writePull, type WrittenPull } from './write-pull.ts'

export type PullsDeps = AskPatchDeps &
  PublishableDeps &
  ChooseDeps & {
    records: AskPatchDeps['records'] & PublishableDeps['records'] & ChooseDeps['records']
    objects: ObjectStore
    ledger: ChooseDeps['ledger'] & OpenPullsDeps['ledger']
    publishing: Pick<PublishingRuns, 'countPull' | 'isUnlabelled' | 'look' | 'noteLabelled' | 'notePull' | 'runOfPull'>
    publicUrl: string | undefined
    /** Where changes of the rehearsal model may be published, too: a fake host. */
    isFakeHost: boolean
  }

/** `held`: why nothing was published that people may expect. `coming`: a worker composes it, or the run is looked at anew. `waiting`: for a time of the schedule. */
type Published = { kind: 'done' | 'waiting'; held: string | undefined } | { kind: 'coming' }

const origin = { kind: 'publisher', id: 'github' } as const
const held = (why: string | undefined): Published => ({ kind: 'done', held: why })

/** Publishes what of a completed run is accepted, as pull requests of at most the size that the repository wants. */
export async function publishPulls(
  run: Run,
  publishing: Publishing,
  deps: PullsDeps,
  signal: AbortSignal,
): Promise<Published> {
  const { publication, host } = publishing
  if (await endLostPulls(run.runId, host, deps)) return { kind: 'coming' }
  const refused = whyNot(run, publication, host, deps)
  if (refused !== undefined) return held(refused.told)
  const target = await targetOf(host)
  const settings = await host.settings()
  const open = await ownPulls(await host.openPulls(target), run, deps)
  const chosen = await choosePartsOf(run, { settings, open }, deps)
  const isWork = chosen.parts.length > 0 || open.length > 0
  const { schedule, timezone } = settings
  const waits = publication.isAsked ? undefined : nextWindow(schedule, timezone, new Date())
  if (isWork && waits !== undefined) return { kind: 'waiting', held: `it waits for ${waits} (github.schedule)` }
  const begun = chosen.parts.length > 0 ? (run.publication?.pulls ?? []) : []
  const newer = await takenOverBy(run, [...open, ...begun], deps)
  if (newer !== undefined) return held(`what is accepted here is in the pull request of run ${newer}, of a later push`)
  for (const part of withOpenPulls(chosen.parts, open, target)) {
    const branch = branchFor(target, part.agent)
    const pull = open.find((one) => one.branch === branch)
    const patch = { changeSetIds: part.changeSetIds, carried: part.carried.map(({ set }) => set) }
    const answer = await askPart(run, patch, deps, { waitMs: 0, signal })
    if (answer.kind === 'coming') return { kind: 'coming' }
    const composition = compositionOf(answer)
    const { carriesFrom } = chosen
    await publishPart(run, { part, carriesFrom, target, branch, settings, composition, pull }, publishing, deps)
  }
  return held(chosen.why)
}

/** Why nothing of the run is published; `told` is what people are told of it. */
function whyNot(
  run: Run,
  { isAsked, isDismissed }: Publication,
  { source }: RunHost,
  { isFakeHost }: PullsDeps,
): { told: string | undefined } | undefined {
  if (isDismissed || run.status !== 'completed') return { told: undefined }
  if (source.isFork) return { told: 'the code is of a fork' }
  // A person's own branch gets a pull request only when somebody asks for it.
  const isWanted = isAsked || (source.branch !== undefined && source.pullRequest === undefined)
  if (!isWanted) return { told: undefined }
  if (modelKindOf(run.request.labels) === 'rehearsal' && !isFakeHost)
    return { told: 'changes of the rehearsal model are not published: use `remora publish --to`' }
  return undefined
}

/** The branch that the changes are for. HOST_004 where that is none. */
export async function targetOf({ source, findBranch }: RunHost): Promise<string> {
  if (source.branch !== undefined) return source.branch
  const named = source.ref.replace(/^refs\/heads\//, '')
  const found = await findBranch(named === 'HEAD' ? null : named)
  if (found !== undefined) return found.name
  throw new AppError('HOST_004', `${named} is no branch: a pull request needs one`)
}

function compositionOf(answer: Exclude<PatchAnswer, { kind: 'coming' }>): Composition {
  if (answer.kind === 'faulty') throw answer.fault
  return answer.composition
}

type Part = {
  part: PullPart
  carriesFrom: readonly RunId[]
  target: string
  branch: string
  settings: RepositorySettings
  composition: Composition
  /** The open pull request of the branch. */
  pull: OpenPull | undefined
}

async function publishPart(
  run: Run,
  { part, carriesFrom, target, branch, settings, composition, pull }: Part,
  { publication, note, host }: Publishing,
  deps: PullsDeps,
): Promise<void> {
  const publishable = await readPublishable(run, composition, deps, part.carried)
  const commits = await planCommits(publishable)
  if (commits.length === 0) return endEmpty(run, { pull, target }, host, deps)
  checkEvidence(commits, publishable)
  // Who composes it is not who may say what is accepted.
  const asked = new Set([...part.changeSetIds, ...part.carried.map(({ set }) => set.changeSetId)])
  const foreign = commits.flatMap((one) => one.changeSetIds).find((id) => !asked.has(id))
  if (foreign !== undefined) throw new AppError('PUBLISH_001', `change set ${foreign} of the patch was not asked for`)
  const base = await baseFor(run, target, publishable, { host, settings })
  const text = pullText({
    ...publishable,
    commits,
    target,
    carried: commits.flatMap((one) => one.changeSetIds).filter((id) => !part.changeSetIds.includes(id)).length,
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
  await notePull({ written, before, part, carriesFrom, branch, ids }, note)
  await finishPull(run, written, { host, settings }, deps)
}

/** From when it is known whose the pull request is, its webhooks are listened to. Labels take seconds, so they come after that. */
async function finishPull(
  { runId }: Run,
  { number, isNew }: WrittenPull,
  { host, settings }: { host: RunHost; settings: RepositorySettings },
  deps: PullsDeps,
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

async function isLabelled(repositoryId: number, number: number, { publishing }: PullsDeps): Promise<boolean> {
  const owner = await publishing.runOfPull(repositoryId, number)
  return owner !== undefined && !(await publishing.isUnlabelled(repositoryId, number))
}

/** Nothing is left of what a pull request had: people have rejected it, or done it themselves. */
async function endEmpty(
  run: Run,
  { pull, target }: { pull: OpenPull | undefined; target: string },
  host: RunHost,
  deps: PullsDeps,
): Promise<void> {
  if (pull === undefined) return
  await host.requireOwn({ branch: pull.branch, baseBranch: target, written: await writtenHeads(run, pull, deps) })
  await host.commentOnce(pull.number, {
    key: `empty-${run.runId}`,
    text: `Nothing is left of these changes in run ${run.runId}, so this is closed.`,
  })
  // It may be an earlier run that has it.
  const owner = await findRun(await deps.publishing.runOfPull(host.source.repository.id, pull.number), deps)
  const noted = owner?.publication?.pulls.find(({ number }) => number === pull.number)
  if (owner !== undefined && noted?.state === 'open') await endPull(owner, noted, { state: 'closed', by: null }, deps)
  await host.closePull(pull.number)
}

/**
 * The commit that is built on: the head of the branch, or, where that has other files than those that were changed, the commit of the run:
 * then git merges, or shows people the conflict. PUBLISH_001: what would be written must not be.
 */
async function baseFor(
  run: Run,
  target: string,
  publishable: Publishable,
  { host, settings }: { host: RunHost; settings: RepositorySettings },
): Promise<CommitId> {
  const commits = await planCommits(publishable)
  const head = (await host.findBranch(target))?.commit
  if (head === undefined) throw new AppError('HOST_004', `there is no branch ${target} any more`)
  const check = async (commit: CommitId) => {
    const base = {
      tree: await host.readTree(commit),
      readBase: ({ baseHash }: { baseHash: string }) => publishable.readBlob(baseHash),
      allowWorkflows: settings.allowWorkflows,
    }
    await checkPublishable(commits, base)
  }
  const isFine = await check(head).then(() => true, undefinedOn('PUBLISH_001'))
  if (isFine === true) return head
  if (run.commit === null || run.commit === head) {
    await check(head)
    return head
  }
  await check(run.commit)
  return run.commit
}

/** PUBLISH_003 when as many were opened today as may be. */
async function countToday(
  run: Run,
  branch: string,
  { maxPullsPerDay }: RepositorySettings,
  { publishing }: PullsDeps,
): Promise<void> {
  const repositoryId = run.request.repository?.repository.id ?? 0
  const count = await publishing.countPull(repositoryId, {
    day: new Date().toISOString().slice(0, 10),
    pull: `${run.runId} ${branch}`,
  })
  if (count <= maxPullsPerDay) return
  throw new AppError('PUBLISH_003', `${maxPullsPerDay} pull requests were opened today (github.max_pulls_per_day)`)
}

type NotedPull = Pick<Part, 'part' | 'carriesFrom' | 'branch'> & {
  written: WrittenPull
  /** What was noted of it when this began. */
  before: PublishedPull['state'] | undefined
  /** What is in it. */
  ids: ReadonlySet<string>
}

async function notePull({ written, before, part, carriesFrom, branch, ids }: NotedPull, note: Note): Promise<void> {
  const { isNew, ...made } = written
  const { agent } = part
  const there = part.carried.filter(({ set }) => ids.has(set.changeSetId))
  const foreign = new Set(there.map(({ set }) => set.changeSetId))
  const carried = carriesFrom.map((runId) => ({
    runId,
    changeSetIds: there.flatMap((one) => (one.runId === runId ? one.of : [])),
  }))
  const changeSetIds = [...ids].filter((id) => !foreign.has(id))
  const pull: PublishedPull = { ...made, agent, branch, state: 'open', changeSetIds, carried }
  const known = (await note({})).pulls.find(({ number }) => number === pull.number)
  const data = {
    number: pull.number,
    url: pull.url,
    branch,
    agent,
    change_sets: changeSetIds.length,
    carried: there.length,
    commit: pull.head,
    draft: pull.isDraft,
  }
  const name = known === undefined && isNew ? 'publication.opened' : 'publication.updated'
  const event: NewEvent = { event: name, phase: 'publication', origin, data }
  const isSame = known?.head === pull.head
  const withPull = ({ pulls }: Publication) => {
    const kept = pulls.find(({ number }) => number === pull.number)
    // Somebody has ended it meanwhile.
    const isEnded = kept !== undefined && kept.state !== 'open' && kept.state !== before
    return [...pulls.filter((one) => one !== kept), isEnded ? kept : pull]
  }
  await note((fresh) => ({ pulls: withPull(fresh), fault: null }), isSame ? [] : [event])
}
