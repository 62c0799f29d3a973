import { askPart, type AskPatchDeps, type PatchAnswer } from '#composition/ask-patch.ts'
import { AppError, undefinedOn } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import { modelKindOf } from '#domain/model-kind.ts'
import type { Publication, PublishedPull } from '#domain/publication.ts'
import type { CommitId } from '#domain/repository-source.ts'
import type { Run } from '#domain/run.ts'
import type { Composition } from '#objects/composition.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { checkEvidence, checkPublishable } from '#publication/check-publishable.ts'
import { commitMessage } from '#publication/commit-message.ts'
import { planCommits } from '#publication/plan-commits.ts'
import { type Publishable, type PublishableDeps, readPublishable } from '#publication/read-publishable.ts'
import type { RepositorySettings } from '../deliveries/repository-settings.ts'
import { type ChosenParts, choosePartsOf, type ChooseDeps } from './choose-parts-of.ts'
import type { PublishingRuns } from './publishing-runs.ts'
import { pullText } from './pull-text.ts'
import type { Note, Publishing, RunHost } from './run-host.ts'
import { writePull, type WrittenPull } from './write-pull.ts'

export type PullsDeps = AskPatchDeps &
  PublishableDeps &
  ChooseDeps & {
    records: AskPatchDeps['records'] & PublishableDeps['records']
    objects: ObjectStore
    publishing: Pick<PublishingRuns, 'countPull' | 'notePull' | 'runOfPull'>
    publicUrl: string | undefined
    /** Where changes of the rehearsal model may be published, too: a fake host. */
    isFakeHost: boolean
  }

/** `held`: why nothing was published that people may expect. `coming`: a worker composes it. */
type Published = { kind: 'done'; held: string | undefined } | { kind: 'coming' }

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
  const refused = whyNot(run, publication, host, deps)
  if (refused !== undefined) return held(refused.told)
  const target = await targetOf(host)
  const settings = await host.settings()
  const chosen = await choosePartsOf(run, settings, deps)
  if (chosen.parts.length === 0) await closeEmpty(run, publishing, deps)
  if (chosen.parts.length === 0) return held(chosen.why)
  // What people have merged or closed is not proposed again.
  const ended = new Set(publication.pulls.flatMap(({ state, changeSetIds }) => (state === 'open' ? [] : changeSetIds)))
  for (const part of chosen.parts) {
    const changeSetIds = part.changeSetIds.filter((id) => !ended.has(id))
    if (changeSetIds.length === 0) continue
    const answer = await askPart(run, changeSetIds, deps, { waitMs: 0, signal })
    if (answer.kind === 'coming') return { kind: 'coming' }
    const chosenPart = { ...part, changeSetIds }
    await publishPart(run, { part: chosenPart, target, settings, composition: compositionOf(answer) }, publishing, deps)
  }
  return held(undefined)
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

async function targetOf({ source, reads }: RunHost): Promise<string> {
  if (source.branch !== undefined) return source.branch
  const named = source.ref.replace(/^refs\/heads\//, '')
  if (named !== 'HEAD' && (await reads.branchHead(named)) !== undefined) return named
  if (named === 'HEAD') return reads.defaultBranch()
  throw new AppError('HOST_004', `${named} is no branch: a pull request needs one`)
}

function compositionOf(answer: Exclude<PatchAnswer, { kind: 'coming' }>): Composition {
  if (answer.kind === 'faulty') throw answer.fault
  return answer.composition
}

/** Closes what is open where people have rejected all of it. */
async function closeEmpty({ runId }: Run, { publication, note, host }: Publishing, { publishing }: PullsDeps) {
  const { pulls } = publication
  const closed = new Set<number>()
  for (const { number, state } of pulls) {
    // A later run may have put its own changes into it.
    const isOwn = (await publishing.runOfPull(host.source.repository.id, number)) === runId
    if (state !== 'open' || !isOwn) continue
    const text = 'All changes of this pull request were rejected, so it is closed.'
    await host.writes.commentOnce(number, { key: `rejected-${runId}`, text })
    await host.writes.closePull(number)
    closed.add(number)
  }
  if (closed.size === 0) return
  await note({ pulls: pulls.map((pull) => (closed.has(pull.number) ? { ...pull, state: 'closed' } : pull)) })
}

type Part = {
  part: ChosenParts['parts'][number]
  target: string
  settings: RepositorySettings
  composition: Composition
}

async function publishPart(
  run: Run,
  { part, target, settings, composition }: Part,
  { note, host }: Publishing,
  deps: PullsDeps,
): Promise<void> {
  const publishable = await readPublishable(run, composition, deps)
  const commits = await planCommits(publishable)
  if (commits.length === 0) return
  checkEvidence(commits, publishable)
  // Who composes it is not who may say what is accepted.
  const foreign = commits.flatMap((one) => one.changeSetIds).find((id) => !part.changeSetIds.includes(id))
  if (foreign !== undefined) throw new AppError('PUBLISH_001', `change set ${foreign} of the patch was not asked for`)
  const base = await baseFor(run, target, publishable, { host, settings })
  const branch = part.agent === null ? `remora/${target}` : `remora/${target}--${part.agent}`
  const written = await writePull(
    {
      branch,
      target,
      base,
      commits: commits.map((commit) => ({ message: commitMessage(commit, publishable), files: commit.files })),
      text: pullText({
        ...publishable,
        commits,
        agent: part.agent,
        left: part.left.length,
        runUrl: deps.publicUrl && `${deps.publicUrl}/v1/runs/${run.runId}`,
        isRehearsal: modelKindOf(run.request.labels) === 'rehearsal',
      }),
      isDraft: settings.draft || composition.gate === undefined,
      settings,
      beforeOpening: () => countToday(run, branch, settings, deps),
      isKnown: async (number) => (await deps.publishing.runOfPull(host.source.repository.id, number)) !== undefined,
    },
    host,
  )
  const ids = commits.flatMap(({ changeSetIds }) => changeSetIds)
  await deps.publishing.notePull(host.source.repository.id, written.number, run.runId)
  await notePull({ written, agent: part.agent, branch, ids }, note)
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
  const head = await host.reads.branchHead(target)
  if (head === undefined) throw new AppError('HOST_004', `there is no branch ${target} any more`)
  const check = async (commit: CommitId) => {
    const base = {
      tree: await host.reads.listTree(commit),
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

type NotedPull = { written: WrittenPull; agent: string | null; branch: string; ids: readonly string[] }

async function notePull({ written, agent, branch, ids }: NotedPull, note: Note): Promise<void> {
  const { what, ...made } = written
  const pull: PublishedPull = { ...made, agent, branch, state: 'open', changeSetIds: [...ids] }
  const { pulls } = await note({})
  const known = pulls.find(({ number }) => number === pull.number)
  const others = pulls.filter(({ number }) => number !== pull.number)
  const data = {
    number: pull.number,
    url: pull.url,
    branch,
    agent,
    change_sets: ids.length,
    commit: pull.head,
    draft: pull.isDraft,
  }
  const name = known === undefined ? 'publication.opened' : 'publication.updated'
  const event: NewEvent = { event: name, phase: 'publication', origin, data }
  const isSame = known !== undefined && what === 'same'
  await note({ pulls: [...others, pull], fault: null }, isSame ? [] : [event])
}
