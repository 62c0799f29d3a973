import { undefinedOn } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { Publication, type PublishedPull } from '#domain/publication.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { RepositoryReads } from '../github/repository-reads.ts'
import { declineChanges, type DeclineDeps } from './choose-parts-of.ts'
import type { PublishingRuns } from './publishing-runs.ts'
import type { RunHost } from './run-host.ts'

export type NotedPullsDeps = {
  ledger: Pick<Ledger, 'getRun' | 'notePublication'>
  publishing: Pick<PublishingRuns, 'look'>
}

type LostPullsDeps = DeclineDeps & NotedPullsDeps & { publishing: Pick<PublishingRuns, 'runOfPull'> }

/** `decline` keeps changes that people have judged from being proposed again; left out where nobody has. */
export type PullEnd = {
  state: Exclude<PublishedPull['state'], 'open'>
  /** Names who ended it, where that is known. */
  by: string | null
  isDeleted?: boolean
  decline?: (run: Run, changeSetIds: readonly string[]) => Promise<void>
}

const origin = { kind: 'publisher', id: 'github' } as const

/** Changes what is kept of the publication, and has it looked at again. */
export async function changePublication(
  runId: RunId,
  to: (publication: Publication) => Publication,
  { ledger, publishing }: NotedPullsDeps,
  events: readonly NewEvent[] = [],
): Promise<void> {
  for (;;) {
    const { publication } = await ledger.getRun(runId)
    const noted = await ledger.notePublication(runId, { publication: to(publication ?? Publication.parse({})), events })
    if (noted !== undefined) break
  }
  await publishing.look(runId, Date.now())
}

/** Notes that a pull request has ended: in the run that has it, and in the earlier ones whose changes are in there. */
export async function endPull(
  run: Run,
  pull: PublishedPull,
  { state, by, isDeleted, decline }: PullEnd,
  deps: NotedPullsDeps,
): Promise<void> {
  const { number, url, carried } = pull
  const end = { state, ...(isDeleted === true && { isDeleted }) }
  await decline?.(run, pull.changeSetIds)
  // Each run has to know what of it was in there in the end. The owner is the last, since it says that the end is known.
  for (const { runId, changeSetIds } of carried) {
    const former = await findRun(runId, deps)
    if (former === undefined) continue
    await decline?.(former, changeSetIds)
    await endPullIn(runId, { ...pull, ...end, changeSetIds, carried: [] }, deps)
  }
  const data = { number, url, state, by, change_sets: pull.changeSetIds.length }
  const event: NewEvent = { event: 'publication.ended', phase: 'publication', origin, data }
  const ended = (known: PublishedPull) =>
    known.number === number && known.state !== 'merged' ? { ...known, ...end } : known
  const withEnd = (known: Publication) => ({ ...known, pulls: known.pulls.map(ended), isSettled: false })
  await changePublication(run.runId, withEnd, deps, [event])
}

/** Records in an earlier run, whose changes the pull request carries, how it ended. */
async function endPullIn(runId: RunId, ended: PublishedPull, deps: NotedPullsDeps): Promise<void> {
  const { publication } = await deps.ledger.getRun(runId)
  const isKnown = publication?.pulls.some(({ number }) => number === ended.number) === true
  if (!isKnown && ended.changeSetIds.length === 0) return
  const withEnded = (known: Publication): Publication => {
    const others = known.pulls.filter(({ number }) => number !== ended.number)
    return { ...known, pulls: [...others, ended], isSettled: false }
  }
  await changePublication(runId, withEnded, deps)
}

/** Notes that a pull request is open after all, in the same runs. `wantAgain`: what it has may be proposed again. */
export async function reopenPull(
  run: Run,
  { number, changeSetIds, carried }: PublishedPull,
  wantAgain: (run: Run, changeSetIds: readonly string[]) => Promise<void>,
  deps: NotedPullsDeps,
): Promise<void> {
  const reopened = ({ isDeleted, ...pull }: PublishedPull): PublishedPull =>
    pull.number === number ? { ...pull, state: 'open' } : { ...pull, ...(isDeleted && { isDeleted }) }
  // As above, the owner is the last.
  for (const part of [...carried, { runId: run.runId, changeSetIds }]) {
    const owner = await findRun(part.runId, deps)
    if (owner === undefined) continue
    await wantAgain(owner, part.changeSetIds)
    const withOpen = (known: Publication) => ({ ...known, pulls: known.pulls.map(reopened), isSettled: false })
    await changePublication(part.runId, withOpen, deps)
  }
}

/** Ends those pull requests (all, or these) that the host says are not open: their webhook was lost or came too early. */
export async function endLostPulls(
  runId: RunId,
  host: Pick<RunHost, 'reads' | 'source'>,
  deps: LostPullsDeps,
  numbers?: readonly number[],
): Promise<boolean> {
  const { pulls = [] } = (await deps.ledger.getRun(runId)).publication ?? {}
  const wanted = pulls.filter(({ number, state }) => state === 'open' && numbers?.includes(number) !== false)
  let isAny = false
  for (const { number } of wanted) {
    const state = (await host.reads.findPull(number))?.state ?? 'open'
    if (state === 'open') continue
    await endLost(runId, { number, state }, host, deps)
    isAny = true
  }
  return isAny
}

async function endLost(
  runId: RunId,
  { number, state }: { number: number; state: PullEnd['state'] },
  { reads, source }: Pick<RunHost, 'reads' | 'source'>,
  deps: LostPullsDeps,
): Promise<void> {
  const openIn = (run: Run) => run.publication?.pulls.find((pull) => pull.number === number && pull.state === 'open')
  const ownerId = await deps.publishing.runOfPull(source.repository.id, number)
  const owner = (await findRun(ownerId, deps)) ?? (await deps.ledger.getRun(runId))
  const owned = openIn(owner)
  if (owned !== undefined) {
    const isDeclined = state === 'closed' && (await isJudged(owned, reads))
    const decline = (of: Run, ids: readonly string[]) => declineChanges(of, ids, { ...deps, how: 'add' })
    const isDeleted = state === 'closed' && !isDeclined
    const end = { state, by: null, ...(isDeclined && { decline }), ...(isDeleted && { isDeleted }) }
    await endPull(owner, owned, end, deps)
  }
  // A later run owns the pull request now, and nothing of this run is in it.
  const left = openIn(await deps.ledger.getRun(runId))
  if (left !== undefined) await endPullIn(runId, { ...left, state, changeSetIds: [], carried: [] }, deps)
}

/** GitHub gives what it notes in one go the time of the same second, or of the next. */
const oneActMs = 2_000

/** Is true when somebody closed it as such, which judges; deleting its branch closes it, too. GitHub's times tell the two apart. */
export async function isJudged(
  { branch, number }: PublishedPull,
  reads: Pick<RepositoryReads, 'branchHead' | 'pullEvents'>,
): Promise<boolean> {
  if ((await reads.branchHead(branch)) !== undefined) return true
  const events = await reads.pullEvents(number)
  const last = (name: string) => events.findLast(({ event }) => event === name)?.at
  const [closed, deleted] = [last('closed'), last('head_ref_deleted')]
  return closed !== undefined && deleted !== undefined && deleted - closed >= oneActMs
}

/** Returns undefined for a run that is not kept any more. */
export async function findRun(
  runId: RunId | undefined,
  { ledger }: { ledger: Pick<Ledger, 'getRun'> },
): Promise<Run | undefined> {
  return runId === undefined ? undefined : ledger.getRun(runId).catch(undefinedOn('RUN_001'))
}
