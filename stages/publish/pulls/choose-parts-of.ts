import { type AcceptedChange, acceptedChanges, type AcceptedChangesDeps } from '#change-sets/accepted-sets.ts'
import { linesChangedBy, type ReadBlob, versionsOf } from '#change-sets/file-versions.ts'
import { neededFirst } from '#change-sets/independent-groups.ts'
import { placesOfSets } from '#change-sets/sets-of-run.ts'
import type { ChangeSet, FileChange } from '#domain/change-set.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import type { GitTree, PlannedFile } from '#domain/planned-commit.ts'
import { shownName } from '#domain/repo-path.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { findRefused } from '../check-publishable.ts'
import { type ChosenPart, chooseParts } from '../choose-parts.ts'
import { plural } from '../markdown.ts'
import { changeKey, type DeclinedChanges, withoutDeclined } from '../declined-changes.ts'
import type { RepositorySettings } from '#settings/github-settings.ts'
import { type Carried, carriedChanges, type CarryDeps, endedChanges } from './carried-changes.ts'

export type DeclineDeps = AcceptedChangesDeps & {
  ledger: Pick<Ledger, 'endedOperations' | 'operationsOfSets'>
  records: { readBlob(project: ProjectId, hash: string): Promise<Uint8Array> }
  declined: DeclinedChanges
}
export type ChooseDeps = DeclineDeps & CarryDeps

/** `own` are the run's change sets, as they were accepted. `lost`: how many of earlier runs do not fit the code any more. */
export type PullPart = ChosenPart & { own: AcceptedChange[]; carried: Carried[]; lost: number }

/** `why` says why not all is in a pull request. `carriesFrom`: earlier runs of which something is in one, or waits for room. */
export type ChosenParts = { parts: PullPart[]; why: string | undefined; carriesFrom: RunId[] }

const readsAtOnce = 8

export type ChoosingFor = {
  settings: RepositorySettings
  open: readonly { number: number }[]
  /** All that the branch has that the pull requests are for. */
  readTree(): Promise<GitTree>
}

/** Makes one choice within one limit. What is in open ones now stays first; what was ended or declined is left out. */
export async function choosePartsOf(
  run: Run,
  { settings, open, readTree }: ChoosingFor,
  deps: ChooseDeps,
): Promise<ChosenParts> {
  const repositoryId = run.request.repository?.repository.id ?? 0
  const ended = endedChanges(run)
  const own = (await acceptedChanges(run, deps)).filter(({ set }) => !ended.has(set.changeSetId))
  const { carried, lost, published } = await carriedChanges(run, open, deps)
  const readBlob = (hash: string) => deps.records.readBlob(run.projectId, hash)
  // The run may have made the same change anew: then it is its own.
  const made = new Set(own.map(({ set }) => set.changeSetId))
  const changes = [...own, ...carried.filter(({ set }) => !made.has(set.changeSetId))]
  const { left, declined } = await withoutDeclined(changes, { repositoryId, declined: deps.declined, readBlob })
  const { kept, reasons } = await withoutRefused(left, { settings, readTree, readBlob })
  const sized = await mapBounded(kept, readsAtOnce, async (change) => ({
    ...change,
    lines: await linesChangedBy(change.set, readBlob),
  }))
  const parts = chooseParts(sized, { ...settings, published })
  const wanted = new Set(kept.map(({ set }) => set.changeSetId).filter((id) => !made.has(id)))
  const foreign = carried.filter(({ set }) => wanted.has(set.changeSetId))
  const whole = parts.map((part) => ({
    ...part,
    changeSetIds: part.changeSetIds.filter((id) => made.has(id)),
    own: own.filter(({ set }) => part.changeSetIds.includes(set.changeSetId)),
    carried: foreign.filter(({ set }) => part.changeSetIds.includes(set.changeSetId)),
    lost: lost.filter(({ bundle }) => part.agent === null || part.agent === bundle).length,
  }))
  const ownDeclined = declined.filter(({ set }) => made.has(set.changeSetId)).length
  const why =
    ownDeclined > 0
      ? `${plural(ownDeclined, 'change')} of this run ${ownDeclined === 1 ? 'was' : 'were'} declined here before`
      : undefined
  return {
    parts: whole.filter((part) => part.changeSetIds.length + part.carried.length > 0),
    why: [withheldText(reasons), whyNot(parts) ?? why].filter((text) => text !== undefined).join('; ') || undefined,
    carriesFrom: [...new Set(foreign.map(({ runId }) => runId))],
  }
}

const mostNamed = 20

type Refusing = Pick<ChoosingFor, 'settings' | 'readTree'> & { readBlob: ReadBlob }

/** Keeps changes whose files may all be published, and that are built on no others. `reasons` names each file once. */
async function withoutRefused<Change extends { set: ChangeSet }>(
  changes: readonly Change[],
  { settings, readTree, readBlob }: Refusing,
): Promise<{ kept: readonly Change[]; reasons: string[] }> {
  if (changes.length === 0) return { kept: changes, reasons: [] }
  const tree = await readTree()
  const sets = neededFirst(changes.map(({ set }) => set))
  const bases = new Map<string, Uint8Array>()
  async function* units() {
    for (const set of sets) {
      bases.clear()
      yield {
        set,
        files: await mapBounded(set.files, readsAtOnce, (file) => plannedFile(file, { tree, bases, readBlob })),
      }
    }
  }
  const readBase = async ({ baseHash }: { baseHash: string }) => bases.get(baseHash) ?? readBlob(baseHash)
  const { allowWorkflows, allowPaths } = settings
  const refused = await findRefused(units(), { tree, readBase, allowWorkflows, allowPaths, without: ['base'] })
  const gone = new Set(refused.map(({ unit }) => unit.set.changeSetId))
  const reasons = new Set(refused.map(({ file, reason }) => `${shownName(file.path)} ${reason}`).toSorted())
  for (const { changeSetId, bundle, builtOn = [], files } of sets) {
    if (gone.has(changeSetId) || !builtOn.some((id) => gone.has(id))) continue
    gone.add(changeSetId)
    for (const { path } of files) reasons.add(`${shownName(path)} is changed by ${bundle} on top of what is left out`)
  }
  return { kept: changes.filter(({ set }) => !gone.has(set.changeSetId)), reasons: [...reasons] }
}

type Planning = { tree: GitTree; bases: Map<string, Uint8Array>; readBlob: ReadBlob }

/** Keeps in `bases` what the file was before. */
async function plannedFile(change: FileChange, { tree, bases, readBlob }: Planning): Promise<PlannedFile> {
  const { path, before, after, executable } = await versionsOf(change, readBlob)
  const baseHash = change.kind === 'create' ? null : change.baseHash
  if (baseHash !== null && before !== null) bases.set(baseHash, before)
  return {
    path: change.path,
    executable: executable ?? tree.get(path)?.mode === '100755',
    ...(change.kind === 'edit' && executable !== undefined && { changesMode: true as const }),
    content: after,
    baseHash,
  }
}

function withheldText(reasons: readonly string[]): string | undefined {
  if (reasons.length === 0) return undefined
  const more = reasons.length > mostNamed ? `; and ${reasons.length - mostNamed} more` : ''
  return `left out (PUBLISH_001): ${reasons.slice(0, mostNamed).join('; ')}${more}`
}

/** People do not want these changes of a run: they are not proposed again, unless they are wanted after all. */
export async function declineChanges(
  run: Run,
  changeSetIds: readonly string[],
  { how, ...deps }: DeclineDeps & { how: 'add' | 'remove' },
): Promise<void> {
  const repositoryId = run.request.repository?.repository.id
  if (repositoryId === undefined) return
  const known = await keysOf(run, changeSetIds, deps)
  const keys = known.flatMap((change) => change.keys)
  await deps.declined[how](repositoryId, keys)
}

/** Returns the change sets of a run that people have declined in its repository, and those that are built on one. */
export async function declinedOf(
  run: Run,
  changeSetIds: readonly string[],
  deps: DeclineDeps,
): Promise<ReadonlySet<string>> {
  const repositoryId = run.request.repository?.repository.id
  if (repositoryId === undefined) return new Set()
  const known = await keysOf(run, changeSetIds, deps)
  const keys = known.flatMap((change) => change.keys)
  const declined = await deps.declined.among(repositoryId, keys)
  const gone = new Set(known.flatMap((change) => (change.keys.some((key) => declined.has(key)) ? change.id : [])))
  const onGone = known.filter(({ builtOn }) => builtOn.some((id) => gone.has(id)))
  return new Set([...gone, ...onGone.map(({ id }) => id)])
}

type KnownChange = { id: string; keys: string[]; builtOn: string[] }

/** Returns what each change is known by in all runs. They need not be accepted: what somebody rejects may have waited for them. */
async function keysOf(run: Run, changeSetIds: readonly string[], deps: DeclineDeps): Promise<KnownChange[]> {
  const places = await placesOfSets(changeSetIds, run, deps.ledger)
  const readBlob = (hash: string) => deps.records.readBlob(run.projectId, hash)
  return mapBounded(changeSetIds, readsAtOnce, async (id) => {
    const place = places.get(id)
    if (place === undefined) return { id, keys: [], builtOn: [] }
    const sets = await deps.records.readChangeSets(run.projectId, place.recordHash)
    const changes = sets.filter(({ changeSetId }) => changeSetId === id)
    const keys = await Promise.all(changes.map((set) => changeKey({ set, node: place.node }, readBlob)))
    return { id, keys, builtOn: changes.flatMap(({ builtOn = [] }) => builtOn) }
  })
}

function whyNot(parts: readonly ChosenPart[]): string | undefined {
  const left = parts.flatMap((part) => part.left)
  const large = left.filter(({ reason }) => reason === 'too_large').length
  return large === 0
    ? undefined
    : `${large} changes are larger than a pull request may be (github.max_files, github.max_lines)`
}
