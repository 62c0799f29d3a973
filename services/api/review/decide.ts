import { chainOf } from '#composition/run-chain.ts'
import { nameConflicts } from '#composition/name-conflicts.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { Decision, Verdict } from '#domain/decision.ts'
import { AppError, hasCode } from '#domain/error.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { OperationId, RunId } from '#domain/ids.ts'
import { changeSetIdsOf, type Operation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import { type Decisions, maxDecisionsAtOnce, type NewDecision } from '#ledger/decisions.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { operationPages } from '#ledger/read-operations.ts'
import type { Conflict } from '#objects/composition.ts'
import { mapBounded } from '#objects/map-bounded.ts'
import { judgeDecisions, type RefusedDecision, type WantedDecision } from './judge-decisions.ts'
import type { ChangeRecords } from './run-changes.ts'

export type DecideDeps = {
  ledger: Pick<
    Ledger,
    'decide' | 'getOperation' | 'getRun' | 'hasSetIndex' | 'listOperations' | 'operationsOfSets' | 'readDecisions'
  >
  records: Pick<ChangeRecords, 'readBlob' | 'readChangeSets' | 'readComposition'>
}

/** A decision that was refused, with the conflict as people read it; `operation` made the set, unless there is no such set. */
export type Refusal = Omit<RefusedDecision, 'conflict'> & { conflict?: Conflict; operation?: Operation }

/** `decision`: what is decided now, null where nobody has. `isMade`: by this request, before which it was `was`. */
export type DecidedSet = { operation: Operation; decision: Decision | null; isMade: boolean; was: Verdict }

/** `decisions`: each set that was not refused. */
export type Decided = { decisions: Map<string, DecidedSet>; refused: Refusal[] }

/** So often somebody else may decide in between. Each time one of them gets on. */
const maxTries = 50

/**
 * Decides on change sets of a run, or of a run that it retries, in the order given, also while it still runs. A decision that
 * changes nothing is not made again. Refused are: RUN_004, a set that the run has not; WORK_001 and WORK_004, to accept what
 * cannot be together with something accepted; WORK_003, a decision on what somebody else has decided since it was seen, or since
 * this began. The others are made, each with its event. Deciding again is harmless.
 */
export async function decide(
  run: Run,
  asked: readonly WantedDecision[],
  { by, deps }: { by: EventOrigin; deps: DecideDeps },
): Promise<Decided> {
  const chain = await chainOf(run, deps.ledger)
  const root = (chain.at(-1) ?? run).runId
  const ids = asked.map(({ changeSetId }) => changeSetId)
  const found = await findSets(chain, ids, deps)
  const { conflicts = [] } = (await deps.records.readComposition(run)) ?? {}
  const made = new Map<string, Verdict>()
  let wanted = asked
  for (let tries = 0; tries < maxTries; tries += 1) {
    const decisions = await deps.ledger.readDecisions(root)
    if (tries === 0) wanted = asked.map((one) => ({ ...one, version: one.version ?? versionOf(one, decisions) }))
    const open = wanted.filter(({ changeSetId }) => !made.has(changeSetId))
    const sets = await readSets(run, { found, decisions }, deps)
    const judged = judgeDecisions(open, { sets, decisions: decisions.byChangeSet, conflicts })
    const steps = judged.made.flatMap((one) => newDecision(one, { found, decisions }) ?? [])
    if (await makeInSteps(root, { steps, decisions, by, made }, deps.ledger)) {
      const refused = await named(run, judged.refused, { sets, found, decisions }, deps)
      return { decisions: decidedNow(asked, refused, { found, decisions, made }), refused }
    }
  }
  throw new AppError('WORK_003', 'Others decide on the same run all the time: try again in a moment.')
}

function versionOf({ changeSetId }: Pick<WantedDecision, 'changeSetId'>, { byChangeSet }: Decisions): number {
  return byChangeSet.get(changeSetId)?.version ?? 0
}

type FoundSet = { run: RunId; operation: Operation; recordHash: string }

const lookupLength = 1_000

/**
 * The operations that made these change sets; a set that none of the runs of the chain has is left out. Of a set that a retry has
 * made again it is the operation of the oldest run, so that all runs of the chain have it.
 */
async function findSets(
  chain: readonly Run[],
  ids: readonly string[],
  { ledger }: Pick<DecideDeps, 'ledger'>,
): Promise<Map<string, FoundSet>> {
  const found = new Map<string, FoundSet>()
  for (const run of chain.toReversed()) {
    const missing = ids.filter((id) => !found.has(id))
    const makers = new Map<string, OperationId>()
    for (let first = 0; first < missing.length; first += lookupLength) {
      const slice = missing.slice(first, first + lookupLength)
      const operations = await ledger.operationsOfSets(run.runId, slice)
      for (const [at, id] of slice.entries()) if (operations[at] !== undefined) makers.set(id, operations[at])
    }
    await mapBounded([...makers], readsAtOnce, async ([id, operationId]) => {
      const operation = await ledger.getOperation(run.runId, operationId)
      const recordHash = operation.outcome?.recordHash
      if (recordHash !== undefined) found.set(id, { run: run.runId, operation, recordHash })
    })
    const isMissing = missing.some((id) => !found.has(id))
    if (isMissing && !(await ledger.hasSetIndex(run))) await findByOutcome(run.runId, missing, found, ledger)
  }
  return found
}

/** Workers of an earlier version do not note which operation made a set: then all outcomes are looked through. */
async function findByOutcome(
  runId: RunId,
  ids: readonly string[],
  found: Map<string, FoundSet>,
  ledger: DecideDeps['ledger'],
): Promise<void> {
  const missing = new Set(ids.filter((id) => !found.has(id)))
  for await (const operations of operationPages(ledger, runId)) {
    for (const operation of operations) {
      const { outcome } = operation
      if (outcome?.recordHash === undefined) continue
      for (const id of changeSetIdsOf(outcome)) {
        if (missing.has(id)) found.set(id, { run: runId, operation, recordHash: outcome.recordHash })
      }
    }
  }
}

const readsAtOnce = 32

type Known = { found: ReadonlyMap<string, FoundSet>; decisions: Decisions }

/** The sets to decide on and those that are accepted. What runs that were deleted have made is not there any more. */
async function readSets(
  { projectId }: Run,
  { found, decisions }: Known,
  { ledger, records }: DecideDeps,
): Promise<Map<string, ChangeSet>> {
  const accepted = [...decisions.byChangeSet.values()].filter(({ verdict }) => verdict === 'accepted')
  const runs = new Map<RunId, boolean>()
  for (const { runId } of accepted) {
    if (!runs.has(runId)) runs.set(runId, await isKept(runId, ledger))
  }
  const hashes = new Set([
    ...[...found.values()].map(({ recordHash }) => recordHash),
    ...accepted.filter(({ runId }) => runs.get(runId)).map(({ recordHash }) => recordHash),
  ])
  const read = await mapBounded([...hashes], readsAtOnce, (hash) => records.readChangeSets(projectId, hash))
  return new Map(read.flat().map((set) => [set.changeSetId, set]))
}

async function isKept(runId: RunId, ledger: DecideDeps['ledger']): Promise<boolean> {
  try {
    await ledger.getRun(runId)
    return true
  } catch (error) {
    if (hasCode(error, 'RUN_001')) return false
    throw error
  }
}

function newDecision(
  { changeSetId, verdict, reason }: WantedDecision,
  { found, decisions }: Known,
): NewDecision | undefined {
  const set = found.get(changeSetId)
  if (set === undefined) return undefined
  const { operationId, node, bundle: agent } = set.operation
  const before = decisions.byChangeSet.get(changeSetId)?.verdict ?? 'pending'
  return { changeSetId, verdict, before, reason, runId: set.run, operationId, recordHash: set.recordHash, node, agent }
}

type Steps = { steps: readonly NewDecision[]; decisions: Decisions; by: EventOrigin; made: Map<string, Verdict> }

/** Makes decisions in slices and notes them in `decisions`, and in `made` what was before. False when somebody else has decided meanwhile. */
async function makeInSteps(
  root: RunId,
  { steps, decisions, by, made }: Steps,
  ledger: Pick<Ledger, 'decide'>,
): Promise<boolean> {
  for (let first = 0; first < steps.length; first += maxDecisionsAtOnce) {
    const slice = steps.slice(first, first + maxDecisionsAtOnce)
    const done = await ledger.decide(root, { last: decisions.last, decisions: slice, by })
    if (done === undefined) return false
    for (const one of done) {
      const id = one.changeSetId
      if (!made.has(id)) made.set(id, decisions.byChangeSet.get(id)?.verdict ?? 'pending')
      decisions.byChangeSet.set(id, one)
    }
    decisions.last = done.at(-1)?.version ?? decisions.last
  }
  return true
}

function decidedNow(
  wanted: readonly WantedDecision[],
  refused: readonly Refusal[],
  { found, decisions, made }: Known & { made: ReadonlyMap<string, Verdict> },
): Decided['decisions'] {
  const decided: Decided['decisions'] = new Map()
  const others = new Set(refused.map(({ changeSetId }) => changeSetId))
  for (const { changeSetId: id } of wanted) {
    const operation = found.get(id)?.operation
    if (operation === undefined || others.has(id)) continue
    const decision = decisions.byChangeSet.get(id) ?? null
    const was = made.get(id) ?? decision?.verdict ?? 'pending'
    decided.set(id, { operation, decision, isMade: made.has(id), was })
  }
  return decided
}

/** An answer shows no more refusals than this. */
export const shownRefusals = 100

/** Adds who made the refused sets, and to the conflicts that are shown what the two sets are called and what each makes of the place. */
async function named(
  { projectId }: Run,
  refused: readonly RefusedDecision[],
  { sets, found, decisions }: Known & { sets: ReadonlyMap<string, ChangeSet> },
  { ledger, records }: DecideDeps,
): Promise<Refusal[]> {
  const nodes = new Map<OperationId, Operation['node']>()
  const shown = refused.slice(0, shownRefusals)
  for (const id of shown.flatMap(({ conflict: one }) => [one?.changeSetId, one?.with?.changeSetId])) {
    const decision = decisions.byChangeSet.get(id ?? '')
    const operation = found.get(id ?? '')?.operation
    if (operation !== undefined) nodes.set(operation.operationId, operation.node)
    else if (decision !== undefined && !nodes.has(decision.operationId)) {
      nodes.set(decision.operationId, (await ledger.getOperation(decision.runId, decision.operationId)).node)
    }
  }
  const readBlob = (hash: string) => records.readBlob(projectId, hash)
  return mapBounded([...refused.entries()], readsAtOnce, async ([at, { conflict, ...one }]) => {
    const operation = found.get(one.changeSetId)?.operation
    const refusal = operation === undefined ? one : { ...one, operation }
    if (conflict === undefined || at >= shownRefusals) return refusal
    const [conflictNamed] = await nameConflicts([conflict], { sets, nodes, readBlob })
    return conflictNamed === undefined ? refusal : { ...refusal, conflict: conflictNamed }
  })
}
