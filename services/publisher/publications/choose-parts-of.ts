import { acceptedChanges, type AcceptedChangesDeps } from '#composition/accepted-sets.ts'
import { linesChangedBy } from '#composition/file-versions.ts'
import { chainOf, placesOfSets } from '#composition/run-chain.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { mapBounded } from '#objects/map-bounded.ts'
import { type ChosenPart, chooseParts } from '#publication/choose-parts.ts'
import { plural } from '#publication/markdown.ts'
import { changeKey, type DeclinedChanges, withoutDeclined } from '#publication/declined-changes.ts'
import type { RepositorySettings } from '../deliveries/repository-settings.ts'
import { type Carried, carriedChanges, type CarryDeps, endedChanges } from './carried-changes.ts'

export type DeclineDeps = AcceptedChangesDeps & {
  records: { readBlob(project: ProjectId, hash: string): Promise<Uint8Array> }
  declined: DeclinedChanges
}
export type ChooseDeps = DeclineDeps & CarryDeps

/** One pull request: the run's own change sets, and those of earlier runs. `lost`: how many of these do not fit the code any more. */
export type PullPart = ChosenPart & { carried: Carried[]; lost: number }

/**
 * `why`: why nothing, or not all, is in a pull request. `carriesFrom`: the earlier runs of which something is in a pull request, or waits for
 * room there.
 */
export type ChosenParts = { parts: PullPart[]; why: string | undefined; carriesFrom: RunId[] }

const readsAtOnce = 8

/**
 * What of the accepted changes of a run, and of what earlier ones have left open, goes into which pull request: one choice within one limit. What
 * is in open ones now stays first. What people have ended with a pull request, or declined in the repository before, is left out.
 */
export async function choosePartsOf(
  run: Run,
  { settings, open }: { settings: RepositorySettings; open: readonly { number: number }[] },
  deps: ChooseDeps,
): Promise<ChosenParts> {
  const repositoryId = run.request.repository?.repository.id ?? 0
  const ended = await endedChanges(run, deps)
  const own = (await acceptedChanges(run, deps)).filter(({ set }) => !ended.has(set.changeSetId))
  const { carried, lost, published } = await carriedChanges(run, open, deps)
  const readBlob = (hash: string) => deps.records.readBlob(run.projectId, hash)
  // The run may have made the same change anew: then it is its own.
  const made = new Set(own.map(({ set }) => set.changeSetId))
  const changes = [...own, ...carried.filter(({ set }) => !made.has(set.changeSetId))]
  const { left, declined } = await withoutDeclined(changes, { repositoryId, declined: deps.declined, readBlob })
  const sized = await mapBounded(left, readsAtOnce, async (one) => ({
    ...one,
    lines: await linesChangedBy(one.set, readBlob),
  }))
  const parts = chooseParts(sized, { ...settings, published })
  const wanted = new Set(left.map(({ set }) => set.changeSetId).filter((id) => !made.has(id)))
  const foreign = carried.filter(({ set }) => wanted.has(set.changeSetId))
  const whole = parts.map((part) => ({
    ...part,
    changeSetIds: part.changeSetIds.filter((id) => made.has(id)),
    carried: foreign.filter(({ set }) => part.changeSetIds.includes(set.changeSetId)),
    lost: lost.filter(({ bundle }) => part.agent === null || part.agent === bundle).length,
  }))
  const ownDeclined = declined.filter(({ set }) => made.has(set.changeSetId)).length
  const why =
    ownDeclined === 0
      ? undefined
      : `${plural(ownDeclined, 'change')} of this run ${ownDeclined === 1 ? 'was' : 'were'} declined here before`
  return {
    parts: whole.filter((part) => part.changeSetIds.length + part.carried.length > 0),
    why: whyNot(parts) ?? why,
    carriesFrom: [...new Set(foreign.map(({ runId }) => runId))],
  }
}

/** People do not want these changes of a run: they are not proposed again, unless they are wanted after all. */
export async function declineChanges(
  run: Run,
  changeSetIds: readonly string[],
  { how, ...deps }: DeclineDeps & { how: 'add' | 'remove' },
): Promise<void> {
  const repositoryId = run.request.repository?.repository.id
  if (repositoryId === undefined) return
  // They need not be accepted: what somebody rejects may have waited for them.
  const places = await placesOfSets(changeSetIds, await chainOf(run, deps.ledger), deps.ledger)
  const readBlob = (hash: string) => deps.records.readBlob(run.projectId, hash)
  const keys = await mapBounded(changeSetIds, readsAtOnce, async (id) => {
    const place = places.get(id)
    if (place === undefined) return []
    const sets = await deps.records.readChangeSets(run.projectId, place.recordHash)
    const changes = sets.filter(({ changeSetId }) => changeSetId === id)
    return Promise.all(changes.map((set) => changeKey({ set, node: place.node }, readBlob)))
  })
  await deps.declined[how](repositoryId, keys.flat())
}

function whyNot(parts: readonly ChosenPart[]): string | undefined {
  const left = parts.flatMap((part) => part.left)
  const large = left.filter(({ reason }) => reason === 'too_large').length
  return large === 0
    ? undefined
    : `${large} changes are larger than a pull request may be (github.max_files, github.max_lines)`
}
