import { type ReadBlob, versionsOf } from '#change-sets/file-versions.ts'
import { chainOf, changesOf } from '#change-sets/run-chain.ts'
import { type ChangeSet, proofOf, wireEvidence } from '#domain/change-set.ts'
import type { Decision } from '#domain/decision.ts'
import { undefinedOn } from '#domain/error.ts'
import { type OperationId, repeatedOperationId } from '#domain/ids.ts'
import { type Operation, originalId } from '#domain/operation.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import type { Run } from '#domain/run.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { operationPages } from '#store/ledger/read-operations.ts'
import { changedFiles, type Composition, type Conflict, conflictView } from '#store/objects/composition.ts'
import type { ChangeRecords } from '#stages/review/find-sets.ts'
import { mapBounded } from '#store/objects/map-bounded.ts'
import { workAhead } from '#platform/limit-concurrency.ts'
import { unifiedDiff } from '#platform/unified-diff.ts'
import { ChangeView } from '#schemas/change-schema.ts'
import type { ChangeFilter, DecisionView } from '#schemas/decision-schema.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'
import { readPatchOf } from '#stages/review/proved-conflicts.ts'
import { redoneAmong } from '#stages/review/redone-sets.ts'

/** Reads what is stored about a run's changes. STORE_003 when something that a run refers to is missing. */
export type ChangeDeps = {
  ledger: Pick<
    Ledger,
    | 'endedOperations'
    | 'getOperation'
    | 'getRun'
    | 'listOperations'
    | 'operationsOfSets'
    | 'readDecisions'
    | 'setsBuiltOn'
  >
  records: ChangeRecords
}

/** A run with those that it retries, newest first, and what was decided on the change sets of all of them. */
type Review = { chain: readonly [Run, ...Run[]]; decisions: Decisions } & Compositions

/** `composition` is the run as it was composed; `accepted` the patch of what was accepted, as it was composed last, if it was. */
type Compositions = { composition: Composition | null; accepted: Composition | undefined }

async function openReview(run: Run, { ledger, records }: ChangeDeps): Promise<Review> {
  const [chain, composition, accepted] = await Promise.all([
    chainOf(run, ledger),
    records.readComposition(run),
    readPatchOf(run, 'accepted', records),
  ])
  return { chain, composition, accepted, decisions: await ledger.readDecisions((chain.at(-1) ?? run).runId) }
}

/** `context`: so many unchanged lines are around each change of a diff. */
type ChangesPage = { cursor: string | undefined; limit: number; filter: ChangeFilter; context: number }

/**
 * One page of the change sets of the run and of those that it retries, newest run first, in the ledger's order of the
 * operations that made them. `limit` counts operations: a mechanical one makes several sets, and a filter leaves some out.
 */
export async function listChanges(
  run: Run,
  { cursor = '0-0', limit, filter, context }: ChangesPage,
  deps: ChangeDeps,
): Promise<{ changes: ChangeView[]; next: string | null }> {
  const review = await openReview(run, deps)
  const [at = 0, position = 0] = cursor.split('-').map(Number)
  const shown = review.chain[at]
  if (shown === undefined) return { changes: [], next: null }
  const page = { status: 'succeeded', cursor: String(position), limit } as const
  const { operations, next } = await deps.ledger.listOperations(shown.runId, page)
  const changes = await changesIn(operations, { review, at, filter }, deps)
  const views = await viewsOf(changes, { review, context }, deps)
  const nextRun = at + 1 < review.chain.length ? `${at + 1}-0` : null
  return { changes: views, next: next === null ? nextRun : `${at}-${next}` }
}

/**
 * The change sets of one operation, those of the run first and then those that the runs it retries made of it; none when it
 * changed nothing. RUN_004 when none of these runs has it.
 */
export async function changesOfOperation(
  run: Run,
  { operationId, context }: { operationId: OperationId; context: number },
  deps: ChangeDeps,
): Promise<ChangeView[]> {
  const review = await openReview(run, deps)
  const forms = await formsOf(operationId, review.chain, deps.ledger)
  const changes = await mapBounded([...forms.entries()], 1, ([at, operations]) =>
    changesIn(operations, { review, at, filter: {} }, deps),
  )
  return viewsOf(changes.flat(), { review, context }, deps)
}

/**
 * Returns, for each run of the chain, what did the work of the operation there. From the newest run that has it backwards these
 * are both its forms, itself and the one that repeats it because it collided, unless that run has both: then each goes on from
 * its own.
 */
async function formsOf(
  operationId: OperationId,
  chain: Review['chain'],
  ledger: ChangeDeps['ledger'],
): Promise<Operation[][]> {
  const read = (id: OperationId) =>
    Promise.all(chain.map(({ runId }) => ledger.getOperation(runId, id).catch(undefinedOn('RUN_004'))))
  const own = await read(operationId)
  const newest = own.findIndex((operation) => operation !== undefined)
  const first = own[newest] ?? (await ledger.getOperation(chain[0].runId, operationId))
  const original = originalId(first)
  const other = await read(original === operationId ? repeatedOperationId(original) : original)
  const hasBoth = other[newest] !== undefined
  return own.map((one, at) => [one, hasBoth || at < newest ? undefined : other[at]].flatMap((form) => form ?? []))
}

/** The change set of this id, once for each run of the chain that has made it; none when none has. */
export async function changesOfSet(
  run: Run,
  { changeSetId, context }: { changeSetId: string; context: number },
  deps: ChangeDeps,
): Promise<ChangeView[]> {
  const makers = await Promise.all(
    (await chainOf(run, deps.ledger)).map(({ runId }) => deps.ledger.operationsOfSets(runId, [changeSetId])),
  )
  const operationId = makers.flat().find((id) => id !== undefined)
  if (operationId === undefined) return []
  const all = await changesOfOperation(run, { operationId, context }, deps)
  return all.filter((change) => change.change_set_id === changeSetId)
}

/**
 * All change sets that a decision on `filter` is about, the oldest first, with the version of the decision that was seen: none of
 * operations that ran again.
 */
export async function findChanges(run: Run, filter: ChangeFilter, deps: ChangeDeps): Promise<Map<string, number>> {
  const review = await openReview(run, deps)
  const found = new Map<string, number>()
  for (const [at, { runId }] of [...review.chain.entries()].toReversed()) {
    for await (const operations of operationPages(deps.ledger, runId)) {
      for (const { set, isRedone, decision } of await changesIn(operations, { review, at, filter }, deps)) {
        if (!isRedone) found.set(set.changeSetId, decision?.version ?? 0)
      }
    }
  }
  return found
}

/** A change set that `operation`, of a run of the chain, made. */
type Change = { set: ChangeSet; operation: Operation; isRedone: boolean; decision: Decision | undefined }

async function changesIn(
  operations: readonly Operation[],
  { review, at, filter }: { review: Review; at: number; filter: ChangeFilter },
  { ledger, records }: ChangeDeps,
): Promise<Change[]> {
  const [{ projectId }] = review.chain
  const changed = await changesOf(operations, (hash) => records.readChangeSets(projectId, hash))
  const isRedone = await redoneAmong(
    changed.map(({ operation }) => operation),
    { chain: review.chain, at },
    ledger,
  )
  const isWanted = changeFilter(filter)
  return changed.flatMap(({ operation, sets }) =>
    sets.flatMap((set) => {
      const decision = review.decisions.byChangeSet.get(set.changeSetId)
      const change = { set, operation, isRedone: isRedone(set.changeSetId, operation), decision }
      return isWanted(change) ? [change] : []
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
  const lists = await Promise.all(viewing.review.chain.map(({ runId }) => deps.ledger.setsBuiltOn(runId, ids)))
  const neededBy = new Map(ids.map((id, at) => [id, [...new Set(lists.flatMap((list) => list[at] ?? []))]]))
  return Promise.all(changes.map((one) => viewIn(one, { ...viewing, neededBy }, deps)))
}

async function viewIn(
  { set, operation: { node, runId }, isRedone, decision }: Change,
  { review, context, neededBy }: Viewing & { neededBy: ReadonlyMap<string, string[]> },
  { records }: ChangeDeps,
): Promise<ChangeView> {
  const [{ projectId }] = review.chain
  const readBlob: ReadBlob = (hash) => records.readBlob(projectId, hash)
  const versions = await Promise.all(set.files.map((file) => versionsOf(file, readBlob)))
  const conflict = conflictOf(set.changeSetId, decision?.verdict === 'accepted', review)
  return viewOf(ChangeView, set, {
    agent: set.bundle,
    evidence: set.evidence.map(wireEvidence),
    path: node.path,
    qualified_name: node.qualifiedName,
    files: set.files.map(({ path, kind }) => ({ path, kind })),
    diff: Buffer.concat(versions.map((one) => unifiedDiff(one, { context }))).toString(),
    rules: set.rules ?? [],
    built_on: set.builtOn ?? [],
    needed_by: neededBy.get(set.changeSetId) ?? [],
    run_id: runId,
    is_redone: isRedone,
    verdict: decision?.verdict ?? 'pending',
    decision: decision === undefined ? null : decisionView(decision),
    conflict: conflict && conflictView(conflict),
  })
}

/** Says why the set is not in the patch; of an accepted one, as the patch of what was accepted has it, if that says anything of it. */
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
  const who = { decided_by: by, ...(byName === undefined ? {} : { decided_by_name: byName }) }
  return { verdict, version, reason, ...(note === undefined ? {} : { note }), decided_at: isoTime(at), ...who }
}

/** A file takes two requests to the object store: read one after the other, those of a large run would be waited for. */
const filesAhead = 4

/**
 * The patch of a composition, one file at a time in the order of their paths, so that only a few files are in memory. Yields
 * nothing when nothing changed.
 */
export async function* patchOf(composition: Composition, readBlob: ReadBlob): AsyncGenerator<Uint8Array> {
  const contentOf = async (hash: string | null) => (hash === null ? null : readBlob(hash))
  const sorted = changedFiles(composition).toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
  const read = async ({ path, baseHash, resultHash, executable }: (typeof sorted)[number]) => {
    const [before, after] = await Promise.all([contentOf(baseHash), contentOf(resultHash)])
    return { path, before, after, executable }
  }
  for await (const versions of workAhead(sorted, filesAhead, read)) yield unifiedDiff(versions)
}
