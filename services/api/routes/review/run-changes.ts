import { type ReadBlob, versionsOf } from '#change-sets/file-versions.ts'
import { changesOf } from '#change-sets/sets-of-run.ts'
import { type ChangeSet, proofOf, wireEvidence } from '#domain/change-set.ts'
import type { Decision } from '#domain/decision.ts'
import { undefinedOn } from '#domain/error.ts'
import { type OperationId, recordIds } from '#domain/ids.ts'
import { type Operation, originalId } from '#domain/operation.ts'
import { snakeKeys } from '#domain/wire-keys.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import type { Run } from '#domain/run.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { operationPages } from '#store/ledger/read-operations.ts'
import { changedFiles, type Composition, type Conflict, conflictView } from '#store/objects/composition.ts'
import { type ChangeRecords, makersOf } from '#stages/review/find-sets.ts'
import { workAhead } from '#platform/limit-concurrency.ts'
import { unifiedDiff } from '#platform/unified-diff.ts'
import { ChangeView } from '#schemas/change-schema.ts'
import type { ChangeFilter, DecisionView } from '#schemas/decision-schema.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'
import { readPatchOf } from '#stages/review/proved-conflicts.ts'
import { redoneAmong } from '#stages/review/read-related.ts'

/** Reads what is stored about a run's changes. STORE_003 when something that a run refers to is missing. */
export type ChangeDeps = {
  ledger: Pick<Ledger, 'endedOperations' | 'getOperation' | 'getRun' | 'listOperations'> &
    Pick<Ledger, 'operationsOfSets' | 'readDecisions' | 'setsBuiltOn'>
  records: ChangeRecords
}

/** `composition` is the run as it was composed; `accepted` the patch of what was accepted, as it was composed last, if it was. */
type Compositions = { composition: Composition | null; accepted: Composition | undefined }
type Review = { run: Run; decisions: Decisions } & Compositions

async function openReview(run: Run, { ledger, records }: ChangeDeps): Promise<Review> {
  const [composition, accepted, decisions] = await Promise.all([
    records.readComposition(run),
    readPatchOf(run, 'accepted', records),
    ledger.readDecisions(run.runId),
  ])
  return { run, composition, accepted, decisions }
}

/** `context`: so many unchanged lines are around each change of a diff. */
type ChangesPage = { cursor: string | undefined; limit: number; filter: ChangeFilter; context: number }

/** `limit` counts operations: a mechanical one makes several sets, and a filter leaves some out. Earlier generations come first. */
export async function listChanges(
  run: Run,
  { cursor, limit, filter, context }: ChangesPage,
  deps: ChangeDeps,
): Promise<{ changes: ChangeView[]; next: string | null }> {
  const review = await openReview(run, deps)
  const page = { status: 'succeeded', allRecords: true, ...(cursor !== undefined && { cursor }), limit } as const
  const { operations, next } = await deps.ledger.listOperations(run.runId, page)
  const changes = await changesIn(operations, { review, filter }, deps)
  return { changes: await viewsOf(changes, { review, context }, deps), next }
}

/** Those of the operation's last record come first. RUN_004 when the run has not that operation. */
export async function changesOfOperation(
  run: Run,
  { operationId, context }: { operationId: OperationId; context: number },
  deps: ChangeDeps,
): Promise<ChangeView[]> {
  const review = await openReview(run, deps)
  const work = originalId(await deps.ledger.getOperation(run.runId, operationId))
  const ids = recordIds(work, run.generation).toReversed()
  const read = ids.map((id) => deps.ledger.getOperation(run.runId, id).catch(undefinedOn('RUN_004')))
  const records = (await Promise.all(read)).filter((record) => record !== undefined)
  return viewsOf(await changesIn(records, { review, filter: {} }, deps), { review, context }, deps)
}

export async function changesOfSet(
  run: Run,
  { changeSetId, context }: { changeSetId: string; context: number },
  deps: ChangeDeps,
): Promise<ChangeView[]> {
  const [operationId] = await deps.ledger.operationsOfSets(run.runId, [changeSetId])
  if (operationId === undefined) return []
  const all = await changesOfOperation(run, { operationId, context }, deps)
  return all.filter((change) => change.change_set_id === changeSetId)
}

/** Returns the sets that a decision on `filter` is about, the oldest first, with the version of the decision that was seen. */
export async function findChanges(run: Run, filter: ChangeFilter, deps: ChangeDeps): Promise<Map<string, number>> {
  const review = await openReview(run, deps)
  const counts = new Map<string, number>()
  for await (const operations of operationPages(deps.ledger, run.runId)) {
    for (const { set, isRedone, decision } of await changesIn(operations, { review, filter }, deps)) {
      if (!isRedone) counts.set(set.changeSetId, decision?.version ?? 0)
    }
  }
  return counts
}

type Change = { set: ChangeSet; operation: Operation; isRedone: boolean; decision: Decision | undefined }

async function changesIn(
  operations: readonly Operation[],
  { review, filter }: { review: Review; filter: ChangeFilter },
  { ledger, records }: ChangeDeps,
): Promise<Change[]> {
  const { projectId } = review.run
  const changed = await changesOf(operations, (hash) => records.readChangeSets(projectId, hash))
  const makers = changed.map(({ operation }) => operation)
  const redone = await redoneAmong(makers, review.run, ledger)
  const ids = changed.flatMap(({ sets }) => sets.map(({ changeSetId }) => changeSetId))
  // What a later record has made just so again is that one's.
  const lastMakers = review.run.generation === 1 ? undefined : await makersOf(review.run.runId, ids, ledger)
  const isWanted = changeFilter(filter)
  return changed.flatMap(({ operation, sets }) =>
    sets.flatMap((set) => {
      const decision = review.decisions.byChangeSet.get(set.changeSetId)
      const change = { set, operation, isRedone: redone.has(set.changeSetId), decision }
      const isLast = (lastMakers?.get(set.changeSetId) ?? operation.operationId) === operation.operationId
      return isLast && isWanted(change) ? [change] : []
    }),
  )
}

function changeFilter({ agent, path, evidence, verdict }: ChangeFilter): (change: Change) => boolean {
  const isInside = path === undefined ? undefined : pathGlobs([path])
  return ({ set, decision }) =>
    (agent === undefined || set.bundle === agent) &&
    (verdict === undefined || (decision?.verdict ?? 'pending') === verdict) &&
    (evidence === undefined || proofOf(set) === evidence) &&
    (isInside === undefined || set.files.some((file) => isInside(file.path)))
}

type Viewing = { review: Review; context: number }

async function viewsOf(changes: readonly Change[], viewing: Viewing, deps: ChangeDeps): Promise<ChangeView[]> {
  const ids = [...new Set(changes.map(({ set }) => set.changeSetId))]
  const lists = await deps.ledger.setsBuiltOn(viewing.review.run.runId, ids)
  const neededBy = new Map(ids.map((id, at) => [id, [...new Set(lists[at])]]))
  return Promise.all(changes.map((change) => viewIn(change, { ...viewing, neededBy }, deps)))
}

async function viewIn(
  { set, operation: { node, operationId, generation }, isRedone, decision }: Change,
  { review, context, neededBy }: Viewing & { neededBy: ReadonlyMap<string, string[]> },
  { records }: ChangeDeps,
): Promise<ChangeView> {
  const { projectId } = review.run
  const readBlob: ReadBlob = (hash) => records.readBlob(projectId, hash)
  const versions = await Promise.all(set.files.map((file) => versionsOf(file, readBlob)))
  const conflict = conflictOf(set.changeSetId, decision?.verdict === 'accepted', review)
  return viewOf(ChangeView, set, {
    operation_id: operationId,
    generation,
    agent: set.bundle,
    evidence: set.evidence.map(wireEvidence),
    path: node.path,
    qualified_name: node.qualifiedName,
    files: set.files.map(({ path, kind }) => ({ path, kind })),
    diff: Buffer.concat(versions.map((version) => unifiedDiff(version, { context }))).toString(),
    rules: set.rules ?? [],
    built_on: set.builtOn ?? [],
    needed_by: neededBy.get(set.changeSetId) ?? [],
    is_redone: isRedone,
    verdict: decision?.verdict ?? 'pending',
    decision: decision === undefined ? null : decisionView(decision),
    conflict: conflict && conflictView(conflict),
  })
}

/** An accepted set is looked for in the patch of what was accepted. */
function conflictOf(
  changeSetId: string,
  isAccepted: boolean,
  { composition, accepted }: Compositions,
): Conflict | undefined {
  const ofAll = composition?.conflicts.find((entry) => entry.changeSetId === changeSetId)
  if (!isAccepted || accepted === undefined) return ofAll
  const isIn = accepted.files.some(({ changeSetIds }) => changeSetIds.includes(changeSetId))
  return accepted.conflicts.find((entry) => entry.changeSetId === changeSetId) ?? (isIn ? undefined : ofAll)
}

export function decisionView({ verdict, version, reason, note, at, by, byName }: Decision): DecisionView {
  const decided = { decidedAt: isoTime(at), decidedBy: by, decidedByName: byName }
  return snakeKeys({ verdict, version, reason, note, ...decided })
}

/** A file takes two requests to the object store: read one after the other, those of a large run would be waited for. */
const filesAhead = 4

/** One file at a time, in the order of their paths. Yields nothing when nothing changed. */
export async function* patchOf(composition: Composition, readBlob: ReadBlob): AsyncGenerator<Uint8Array> {
  const contentOf = async (hash: string | null) => (hash === null ? null : readBlob(hash))
  const sorted = changedFiles(composition).toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
  const read = async ({ path, baseHash, resultHash, executable }: (typeof sorted)[number]) => {
    const [before, after] = await Promise.all([contentOf(baseHash), contentOf(resultHash)])
    return { path, before, after, executable }
  }
  for await (const versions of workAhead(sorted, filesAhead, read)) yield unifiedDiff(versions)
}
