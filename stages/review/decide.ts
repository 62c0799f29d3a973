import { nameConflicts } from '#change-sets/name-conflicts.ts'
import { type Decision, maxReasonCharacters, type Verdict } from '#domain/decision.ts'
import { AppError } from '#domain/error.ts'
import type { OperationId } from '#domain/ids.ts'
import { type Operation, originalId } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import { type Decider, type Decisions, maxDecisionsAtOnce, type NewDecision } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Conflict } from '#store/objects/composition.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { retriesBefore } from './rejected-work.ts'
import { type ChangeRecords, findSets, type FoundSet } from './find-sets.ts'
import {
  judgeDecisions,
  type JudgeOptions,
  type MadeDecision,
  type RefusedDecision,
  type WantedDecision,
} from './judge-decisions.ts'
import { provedConflicts } from './proved-conflicts.ts'
import { readRelated, type RelatedDeps, type RelatedSets } from './read-related.ts'

export type DecideDeps = {
  ledger: RelatedDeps['ledger'] & Pick<Ledger, 'decide' | 'readDecisions'>
  records: RelatedDeps['records'] & Pick<ChangeRecords, 'readBlob' | 'readComposition'>
}

/** A set in the way of a decision, and how it stands. */
export type SetInWay = NamedSet & { changeSetId: string; verdict: Verdict }

/**
 * A decision that was refused, with the conflict as people read it and the decision on its other set; `operation` made the set, unless
 * there is no such set.
 */
export type Refusal = Omit<RefusedDecision, 'conflict' | 'blocked'> & {
  conflict?: Conflict
  withDecision?: Decision
  blocked?: { verdict: Verdict; by: SetInWay[] }
} & Partial<NamedSet>

export type DecidedSet = {
  operation: Operation
  /** Is the decision that holds now; null where nobody has decided. */
  decision: Decision | null
  /** Is true when this request has made the decision. */
  isMade: boolean
  /** Is the verdict before this request. */
  was: Verdict
  /** The set with which this one was decided, if nobody asked for this one itself. */
  becauseOf: string | undefined
}

/**
 * `decisions`: each set that was not refused or left alone, and those that were decided with them. `leftAlone`: how many sets of a
 * decision in bulk stay as a person has decided on them.
 */
export type Decided = { decisions: Map<string, DecidedSet>; refused: Refusal[]; leftAlone: number }

/** Each try fails only because somebody else's decision has been made meanwhile. */
const maxTries = 50

/**
 * Decides on change sets of a run, in the order given, also while it still runs. A decision that
 * changes nothing is not made again. Refused are: RUN_004, a set that the run has not; WORK_001 and WORK_004, to accept what
 * cannot be together with something accepted, and WORK_001 what would leave something accepted, or open, without a set that it is
 * built on; WORK_003, a decision on what somebody else has decided since it was seen, or since this began. The others are made, each
 * with its event. What an accepted set is built on is accepted with it; `withDependents`: what is built on a set is rejected or
 * taken back with it. `allOrNone`: all are made in one step, or none when one of them is refused; INTAKE_003 where these are more than
 * a step takes. What is not named but found by a condition (`isBulk`) overrules no person. Deciding again is harmless.
 */
export async function decide(
  run: Run,
  asked: readonly WantedDecision[],
  { by, deps, ...options }: JudgeOptions & { by: Decider; deps: DecideDeps },
): Promise<Decided> {
  const ids = asked.map(({ changeSetId }) => changeSetId)
  const makers = await findSets(run, ids, deps)
  const conflicts = await provedConflicts(run, deps.records)
  const made: DecidedBefore = new Map()
  let wanted = asked
  let seen: Decisions['byChangeSet'] = new Map()
  for (let tries = 0; tries < maxTries; tries += 1) {
    const decisions = await deps.ledger.readDecisions(run.runId)
    if (tries === 0) {
      seen = new Map(decisions.byChangeSet)
      wanted = asked.map((set) => ({ ...set, version: set.version ?? versionOf(set, decisions) }))
    }
    const open = wanted.filter(({ changeSetId }) => !made.has(changeSetId))
    const known = { ...(await readRelated(run, open, { makers, decisions }, deps)), makers, decisions }
    const { waiting, over } = await retriesBefore(run, open, decisions, deps.ledger)
    const before = { decisions: decisions.byChangeSet, seen, retried: over, conflicts }
    const judged = judgeDecisions(open, { ...known, ...before }, options)
    if (options.allOrNone === true && judged.refused.length > 0) {
      const refused = await named(run, judged.refused, known, deps)
      return { decisions: new Map(), leftAlone: judged.leftAlone.length, refused }
    }
    const steps = judged.made.flatMap((decision) => newDecision(decision, waiting, known) ?? [])
    if (options.allOrNone === true && steps.length > maxDecisionsAtOnce) throw tooManyAtOnce(steps.length)
    if (await makeInSteps(run, { steps, decisions, by, made }, deps.ledger)) {
      const refused = await named(run, judged.refused, known, deps)
      const leftAlone = new Set(judged.leftAlone)
      const decided = asked.filter(({ changeSetId }) => !leftAlone.has(changeSetId))
      return {
        decisions: decidedNow(decided, refused, { makers, decisions, made }),
        refused,
        leftAlone: leftAlone.size,
      }
    }
  }
  throw new AppError('WORK_003', 'Others decide on the same run all the time: try again in a moment.')
}

function tooManyAtOnce(count: number): AppError {
  const message = `These are ${count} decisions: all or none are made of ${maxDecisionsAtOnce} at most.`
  return new AppError('INTAKE_003', message)
}

function versionOf({ changeSetId }: Pick<WantedDecision, 'changeSetId'>, { byChangeSet }: Decisions): number {
  return byChangeSet.get(changeSetId)?.version ?? 0
}

type Known = Pick<RelatedSets, 'sets'> & { makers: ReadonlyMap<string, FoundSet>; decisions: Decisions }

/** A decision that is to be made, and because of which other one. */
type Step = { decision: NewDecision; becauseOf: string | undefined }

/** A retry that was asked for before, and still waits, is still wanted, with what is said now. */
function newDecision(made: MadeDecision, waiting: ReadonlySet<string>, known: Known): Step | undefined {
  const { changeSetId, verdict, becauseOf } = made
  const set = known.makers.get(changeSetId)
  if (set === undefined) return undefined
  const { operationId, node, bundle: agent } = set.operation
  const before = known.decisions.byChangeSet.get(changeSetId)?.verdict ?? 'pending'
  const isWanted = verdict === 'rejected' && (made.retry ?? waiting.has(changeSetId))
  const retry = isWanted ? ({ retry: true } as const) : {}
  const maker = { operationId, recordHash: set.recordHash, node, agent }
  // What was said of the set that is accepted says nothing of those that it needs.
  const reason = becauseOf !== undefined && verdict === 'accepted' ? null : made.reason
  return { decision: { changeSetId, verdict, before, reason, ...noteOf(made, known), ...maker, ...retry }, becauseOf }
}

/** Says with which other set this one is decided, if with any. The note is apart from the reason, which agents are told. */
function noteOf({ verdict, becauseOf }: MadeDecision, known: Known): { note?: string } {
  if (becauseOf === undefined) return {}
  const name = nameOfSet(becauseOf, namedSet(becauseOf, known))
  const note =
    verdict === 'accepted'
      ? `${name}, which was accepted, is built on it`
      : `built on ${name}, which was ${verdict === 'rejected' ? 'rejected' : 'taken back'}`
  return { note: note.slice(0, maxReasonCharacters).toWellFormed() }
}

/** Holds what this request has decided: the verdict before, and the set because of which. */
type DecidedBefore = Map<string, { was: Verdict; becauseOf: string | undefined }>

/** Makes decisions in slices and notes them in `decisions`, and in `made` what was before. False when somebody else has decided meanwhile. */
async function makeInSteps(
  { runId }: Run,
  { steps, decisions, by, made }: { steps: readonly Step[]; decisions: Decisions; by: Decider; made: DecidedBefore },
  ledger: Pick<Ledger, 'decide'>,
): Promise<boolean> {
  for (let first = 0; first < steps.length; first += maxDecisionsAtOnce) {
    const slice = steps.slice(first, first + maxDecisionsAtOnce)
    const wanted = slice.map(({ decision }) => decision)
    const done = await ledger.decide(runId, { last: decisions.last, decisions: wanted, by })
    if (done === undefined) return false
    for (const { decision, becauseOf } of slice) {
      const { changeSetId: id, before: was } = decision
      if (!made.has(id)) made.set(id, { was, becauseOf })
    }
    for (const decision of done) decisions.byChangeSet.set(decision.changeSetId, decision)
    decisions.last = done.at(-1)?.version ?? decisions.last
  }
  return true
}

function decidedNow(
  wanted: readonly WantedDecision[],
  refused: readonly Refusal[],
  { makers, decisions, made }: Pick<Known, 'makers' | 'decisions'> & { made: DecidedBefore },
): Decided['decisions'] {
  const decided: Decided['decisions'] = new Map()
  const others = new Set(refused.map(({ changeSetId }) => changeSetId))
  for (const id of new Set([...wanted.map(({ changeSetId }) => changeSetId), ...made.keys()])) {
    const operation = makers.get(id)?.operation
    if (operation === undefined || others.has(id)) continue
    const decision = decisions.byChangeSet.get(id) ?? null
    const { was = decision?.verdict ?? 'pending', becauseOf } = made.get(id) ?? {}
    decided.set(id, { operation, decision, isMade: made.has(id), was, becauseOf })
  }
  return decided
}

/** An answer shows no more refusals than this. */
export const shownRefusals = 100
const namesAtOnce = 32

/** Adds who made the refused sets, and to the conflicts that are shown what the two sets are called and what each makes of the place. */
async function named(
  { projectId, runId }: Run,
  refused: readonly RefusedDecision[],
  known: Known,
  { ledger, records }: DecideDeps,
): Promise<Refusal[]> {
  const { sets, makers, decisions } = known
  const nodes = new Map<OperationId, Operation['node']>()
  const shown = refused.slice(0, shownRefusals)
  for (const id of shown.flatMap(({ conflict }) => [conflict?.changeSetId, conflict?.with?.changeSetId])) {
    const decision = decisions.byChangeSet.get(id ?? '')
    const operation = makers.get(id ?? '')?.operation
    if (operation !== undefined) nodes.set(originalId(operation), operation.node)
    else if (decision !== undefined) {
      const maker = await ledger.getOperation(runId, decision.operationId)
      nodes.set(originalId(maker), maker.node)
    }
  }
  const readBlob = (hash: string) => records.readBlob(projectId, hash)
  return mapBounded([...refused.entries()], namesAtOnce, async ([at, { conflict, blocked, ...told }]) => {
    const by = blocked?.by.map((id) => setInWay(id, known))
    const withDecision = decisions.byChangeSet.get(conflict?.with?.changeSetId ?? '')
    const refusal = {
      ...told,
      ...namedSet(told.changeSetId, known),
      ...(withDecision && { withDecision }),
      ...(blocked && by && { blocked: { ...blocked, by } }),
    }
    if (conflict === undefined || at >= shownRefusals) return refusal
    const [conflictNamed] = await nameConflicts([conflict], { sets, nodes, readBlob })
    return conflictNamed === undefined ? refusal : { ...refusal, conflict: conflictNamed }
  })
}

function setInWay(changeSetId: string, known: Known): SetInWay {
  const verdict = known.decisions.byChangeSet.get(changeSetId)?.verdict ?? 'pending'
  return { changeSetId, verdict, ...namedSet(changeSetId, known) }
}

/** The operation that made a set, and the rules of a mechanical one. */
export type NamedSet = { operation?: Operation; rules?: readonly string[] }

function namedSet(changeSetId: string, { makers, sets }: Pick<Known, 'makers' | 'sets'>): NamedSet {
  const operation = makers.get(changeSetId)?.operation
  const rules = sets.get(changeSetId)?.rules
  return { ...(operation && { operation }), ...(rules && { rules }) }
}

/** `lint shop/stock.py (E713) c0123456789abcdef` */
export function nameOfSet(changeSetId: string, { operation, rules = [] }: NamedSet): string {
  if (operation === undefined) return changeSetId
  const { bundle, node } = operation
  const name =
    node.path === node.qualifiedName || node.path.endsWith(`/${node.qualifiedName}`) ? [] : [node.qualifiedName]
  return [bundle, node.path, ...name, ...(rules.length === 0 ? [] : [`(${rules.join(', ')})`]), changeSetId].join(' ')
}
