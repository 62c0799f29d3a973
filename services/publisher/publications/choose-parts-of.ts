import { type AcceptedDeps, readAccepted } from '#composition/accepted-sets.ts'
import { linesChangedBy } from '#composition/file-versions.ts'
import { chainOf } from '#composition/run-chain.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { ProjectId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { mapBounded } from '#objects/map-bounded.ts'
import { type ChosenPart, chooseParts } from '#publication/choose-parts.ts'
import { changeKey, type DeclinedChanges, withoutDeclined } from '#publication/declined-changes.ts'
import type { RepositorySettings } from '../deliveries/repository-settings.ts'

export type ChooseDeps = {
  ledger: AcceptedDeps['ledger'] & Pick<Ledger, 'getRun' | 'readDecisions'>
  records: {
    readBlob(project: ProjectId, hash: string): Promise<Uint8Array>
    readChangeSets: AcceptedDeps['readSets']
  }
  declined: DeclinedChanges
}

/** `why`: why nothing, or not all, is in a pull request. */
export type ChosenParts = { parts: ChosenPart[]; why: string | undefined }

const readsAtOnce = 8

/** What of the accepted changes of a run goes into which pull request. What people have declined in the repository before is left out. */
export async function choosePartsOf(run: Run, settings: RepositorySettings, deps: ChooseDeps): Promise<ChosenParts> {
  const repositoryId = run.request.repository?.repository.id ?? 0
  const changes = await acceptedChanges(run, deps)
  const readBlob = (hash: string) => deps.records.readBlob(run.projectId, hash)
  const { left, declined } = await withoutDeclined(changes, { repositoryId, declined: deps.declined, readBlob })
  const sized = await mapBounded(left, readsAtOnce, async (one) => ({
    ...one,
    lines: await linesChangedBy(one.set, readBlob),
  }))
  const pulls = run.publication?.pulls ?? []
  const published = new Set(pulls.flatMap(({ state, changeSetIds }) => (state === 'open' ? changeSetIds : [])))
  const parts = chooseParts(sized, { ...settings, published })
  const why = declined.length === 0 ? undefined : `${declined.length} of the changes were declined here before`
  return { parts: parts.filter(({ changeSetIds }) => changeSetIds.length > 0), why: whyNot(parts) ?? why }
}

/** People do not want these changes of a run: they are not proposed again, unless they are wanted after all. */
export async function declineChanges(
  run: Run,
  changeSetIds: readonly string[],
  { how, ...deps }: ChooseDeps & { how: 'add' | 'remove' },
): Promise<void> {
  const repositoryId = run.request.repository?.repository.id
  if (repositoryId === undefined) return
  const wanted = new Set(changeSetIds)
  const changes = (await acceptedChanges(run, deps)).filter(({ set }) => wanted.has(set.changeSetId))
  const readBlob = (hash: string) => deps.records.readBlob(run.projectId, hash)
  const keys = await mapBounded(changes, readsAtOnce, (change) => changeKey(change, readBlob))
  await deps.declined[how](repositoryId, keys)
}

/** What is accepted in a run and those that it retries, and what it was made for. */
export async function acceptedChanges(
  run: Run,
  { ledger, records }: Pick<ChooseDeps, 'ledger' | 'records'>,
): Promise<{ set: ChangeSet; node: CodeNode }[]> {
  const chain = await chainOf(run, ledger)
  const decisions = await ledger.readDecisions((chain.at(-1) ?? run).runId)
  const { sets, nodeOf } = await readAccepted(chain, decisions, { ledger, readSets: records.readChangeSets })
  const found = await mapBounded(sets, readsAtOnce, async (set) => ({ set, node: await nodeOf(set.operationId) }))
  return found.flatMap(({ set, node }) => (node === undefined ? [] : [{ set, node }]))
}

function whyNot(parts: readonly ChosenPart[]): string | undefined {
  const left = parts.flatMap((part) => part.left)
  const large = left.filter(({ reason }) => reason === 'too_large').length
  return large === 0
    ? undefined
    : `${large} changes are larger than a pull request may be (github.max_files, github.max_lines)`
}
