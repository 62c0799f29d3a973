import { openComposedFiles, type LeftOutSet } from '#change-sets/compose-change-sets.ts'
import { neededFirst } from '#change-sets/independent-groups.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import { type Decision, isByPerson, type Verdict } from '#domain/decision.ts'
import type { Conflict } from '#store/objects/composition.ts'
import { getOrMake } from '#platform/cached-answers.ts'

export type WantedDecision = {
  changeSetId: string
  verdict: Verdict
  /** Null keeps the reason that was given before, if one was. */
  reason: string | null
  /** Asks, with a rejection, for its operation to be tried again after the end of the run. */
  retry?: true | undefined
  /** Is the version of the decision that whoever decides has seen on the set, 0 for none; undefined: whatever it is by now. */
  version: number | undefined
  /** It was not named, but is one of many that a condition has found: what a person has accepted or rejected before is left alone. */
  isBulk?: true | undefined
}

/** Names in `becauseOf`, for a set that is decided with another, the one that was asked for: one of them is built on the other. */
export type MadeDecision = WantedDecision & { becauseOf?: string }

/** Says why a decision is not made; `conflict` names the other set of WORK_001, WORK_002, WORK_004 and WORK_007. */
export type RefusedDecision = {
  changeSetId: string
  errorCode: 'RUN_004' | 'WORK_001' | 'WORK_002' | 'WORK_003' | 'WORK_004' | 'WORK_007'
  /** Concerns the set itself, or one that it is built on. */
  conflict?: LeftOutSet
  /** Comes instead: what was wanted, and the sets in the way of that, on which this one is built or which are built on it. */
  blocked?: { verdict: Verdict; by: string[] }
  /** Comes with WORK_003: it is what was decided meanwhile. */
  decision?: Decision | undefined
}

export type KnownSets = {
  /** Holds at least the sets to decide on, those that these are built on or that are built on these, and those that are accepted. */
  sets: ReadonlyMap<string, ChangeSet>
  /** Lists, for each set to decide on, those that are built on it, unless nobody looks at them any more. */
  builtOn: ReadonlyMap<string, readonly string[]>
  decisions: ReadonlyMap<string, Decision>
  /** Holds the decisions as the request began: what somebody decided since is not decided with another set. Absent: as `decisions`. */
  seen?: ReadonlyMap<string, Decision>
  /** Rejected sets whose retry is over: to ask for one again is to ask for another. */
  retried?: ReadonlySet<string>
  /** Holds what the composition of the run has proved about sets that cannot be together. */
  conflicts: readonly Pick<
    Conflict,
    'changeSetId' | 'operationId' | 'path' | 'errorCode' | 'reason' | 'with' | 'byItself'
  >[]
}

/**
 * `made`: those that change something, each at most once, in an order in which no set is ever accepted without those that it is
 * built on. A decision that was made before is neither made nor refused. `leftAlone`: sets that stay as a person has decided on them.
 */
export type JudgedDecisions = { made: MadeDecision[]; refused: RefusedDecision[]; leftAlone: string[] }

/** `allOrNone`: none is made when one of them is refused. */
export type JudgeOptions = { withDependents?: boolean; allOrNone?: boolean }

/**
 * Judges decisions in their order, each by what the ones before it have made of the accepted sets. What a set is built on is
 * accepted with it; what is built on a set is rejected or taken back with it, if `withDependents` says so. What is asked for
 * itself is judged first then, and by what was asked.
 */
export function judgeDecisions(
  wanted: readonly WantedDecision[],
  known: KnownSets,
  { withDependents = false, allOrNone = false }: JudgeOptions = {},
): JudgedDecisions {
  const asked = new Map(wanted.map((decision) => [decision.changeSetId, decision]))
  const judging: Judging = {
    ...known,
    withDependents,
    asked,
    open: new Map(asked),
    accepted: openAccepted(known),
    made: new Map(),
    acceptedOn: new Map(),
    refused: [],
    leftAlone: [],
  }
  for (const decision of wanted) judgeIfOpen(decision, judging)
  const { made, refused, leftAlone } = judging
  return { made: allOrNone && refused.length > 0 ? [] : [...made.values()], refused, leftAlone }
}

type Judging = KnownSets & {
  withDependents: boolean
  asked: ReadonlyMap<string, WantedDecision>
  /** Holds those of `asked` that are not judged yet. */
  open: Map<string, WantedDecision>
  accepted: ReturnType<typeof openAccepted>
  made: Map<string, MadeDecision>
  /** Holds, by a set, those built on it that this request accepts. They may be such as nobody looks at any more. */
  acceptedOn: Map<string, Set<string>>
  refused: RefusedDecision[]
  leftAlone: string[]
}

function judgeIfOpen(wanted: WantedDecision | undefined, judging: Judging): void {
  if (wanted === undefined || !judging.open.delete(wanted.changeSetId)) return
  const refusal = judge(wanted, judging)
  if (refusal !== undefined) judging.refused.push({ changeSetId: wanted.changeSetId, ...refusal })
}

type Refusal = Omit<RefusedDecision, 'changeSetId'>

function judge(wanted: WantedDecision, judging: Judging): Refusal | undefined {
  const { changeSetId, verdict, reason, version } = wanted
  const [set, decision] = [judging.sets.get(changeSetId), judging.decisions.get(changeSetId)]
  if (set === undefined) return { errorCode: 'RUN_004' }
  const isSameVerdict = (decision?.verdict ?? 'pending') === verdict
  const asksMore =
    wanted.retry !== undefined && (decision?.retry === undefined || judging.retried?.has(changeSetId) === true)
  if (isSameVerdict && (reason === null || reason === decision?.reason) && !asksMore) return undefined
  if (wanted.isBulk && isDecidedByPerson(decision)) {
    judging.leftAlone.push(changeSetId)
    return undefined
  }
  if (version !== undefined && version !== (decision?.version ?? 0)) return { errorCode: 'WORK_003', decision }
  if (isSameVerdict) {
    make([wanted], judging)
    return undefined
  }
  return verdict === 'accepted' ? accept(wanted, set, judging) : release(wanted, judging)
}

function isDecidedByPerson(decision: Decision | undefined): boolean {
  return decision !== undefined && decision.verdict !== 'pending' && isByPerson(decision)
}

/** Accepts the set with those that it is built on, or none of them. */
function accept(wanted: WantedDecision, set: ChangeSet, judging: Judging): Refusal | undefined {
  const { sets, asked, open, accepted } = judging
  const builtOn = set.builtOn ?? []
  for (const id of builtOn) if (asked.get(id)?.verdict === 'accepted') judgeIfOpen(open.get(id), judging)
  const missing = builtOn.filter((id) => verdictOn(id, judging) !== 'accepted')
  const by = missing.filter((id) => verdictOn(id, judging) === 'rejected' || isDecidedApart(id, judging))
  if (by.length > 0) return { errorCode: 'WORK_001', blocked: { verdict: 'accepted', by } }
  const needed = neededFirst(missing.flatMap((id) => sets.get(id) ?? []))
  const added: ChangeSet[] = []
  for (const next of [...needed, set]) {
    const conflict = accepted.add(next)
    if (conflict === undefined) added.unshift(next)
    else {
      for (const other of added) accepted.remove(other.changeSetId)
      return { errorCode: conflict.errorCode, conflict }
    }
  }
  make([...needed.map((other) => withIt(wanted, other.changeSetId)), wanted], judging)
  return undefined
}

/** Rejects the set or takes back its acceptance, with those that are built on it or not at all. */
function release(wanted: WantedDecision, judging: Judging): Refusal | undefined {
  const { changeSetId, verdict, isBulk = false } = wanted
  const { sets, asked, open, accepted, withDependents } = judging
  const dependents = [
    ...new Set([...(judging.builtOn.get(changeSetId) ?? []), ...(judging.acceptedOn.get(changeSetId) ?? [])]),
  ]
  const isOut = (other: Verdict) => other === 'rejected' || (other === 'pending' && verdict === 'pending')
  for (const id of dependents) if (isOut(asked.get(id)?.verdict ?? 'accepted')) judgeIfOpen(open.get(id), judging)
  const by = dependents.filter((id) => !isOut(verdictOn(id, judging)))
  const isApart = (id: string) =>
    isDecidedApart(id, judging) || (isBulk && isDecidedByPerson(judging.decisions.get(id)))
  if (by.length > 0 && (!withDependents || by.some(isApart))) {
    return { errorCode: 'WORK_001', blocked: { verdict, by } }
  }
  const lastFirst = neededFirst(by.flatMap((id) => sets.get(id) ?? [])).toReversed()
  make([...lastFirst.map((other) => withIt(wanted, other.changeSetId)), wanted], judging)
  for (const id of [...by, changeSetId]) accepted.remove(id)
  return undefined
}

function withIt({ changeSetId: becauseOf, verdict, reason, retry }: WantedDecision, changeSetId: string): MadeDecision {
  return { changeSetId, verdict, reason, version: undefined, becauseOf, ...(retry === undefined ? {} : { retry }) }
}

function make(decisions: readonly MadeDecision[], { made, sets, acceptedOn }: Judging): void {
  for (const decision of decisions) {
    made.set(decision.changeSetId, decision)
    if (decision.verdict !== 'accepted') continue
    for (const id of sets.get(decision.changeSetId)?.builtOn ?? []) {
      getOrMake(acceptedOn, id, () => new Set()).add(decision.changeSetId)
    }
  }
}

function verdictOn(id: string, { made, decisions }: Judging): Verdict {
  return (made.get(id) ?? decisions.get(id))?.verdict ?? 'pending'
}

/**
 * Is true for a set that is not to be decided with another: a request decides on a set once, as was asked for it or with another one,
 * and never over what somebody has decided since it began.
 */
function isDecidedApart(id: string, { asked, made, decisions, seen = decisions }: Judging): boolean {
  return asked.has(id) || made.has(id) || decisions.get(id)?.version !== seen.get(id)?.version
}

/** The accepted sets, none of which collides with another. */
function openAccepted({ sets, decisions, conflicts }: KnownSets) {
  const held = new Map<string, ChangeSet>()
  for (const { changeSetId, verdict } of decisions.values()) {
    const set = sets.get(changeSetId)
    if (verdict === 'accepted' && set !== undefined) held.set(changeSetId, set)
  }
  const composed = openComposedFiles(sets)
  for (const set of neededFirst([...held.values()])) composed.add(set)
  const broken = conflicts.filter(({ errorCode }) => errorCode === 'WORK_004' || errorCode === 'WORK_007')
  /** A set with which a check fails, by itself or together with another one that is accepted. */
  const failureOf = ({ changeSetId }: ChangeSet): LeftOutSet | undefined => {
    for (const conflict of broken) {
      const { with: other, path, errorCode, reason, operationId, byItself } = conflict
      if (byItself && conflict.changeSetId === changeSetId) {
        return { changeSetId, operationId, path, errorCode, reason, byItself }
      }
      if (other === undefined) continue // it may be sound without some of the others: the accepted patch proves it
      if (conflict.changeSetId === changeSetId && held.has(other.changeSetId)) {
        return { changeSetId, operationId, path, errorCode, reason, with: other }
      }
      if (other.changeSetId === changeSetId && held.has(conflict.changeSetId)) {
        const partner = { changeSetId: conflict.changeSetId, operationId }
        return { changeSetId, operationId: other.operationId, path, errorCode, reason, with: partner }
      }
    }
    return undefined
  }
  return {
    /** Adds the set to the accepted ones, or says why it cannot be accepted. */
    add(set: ChangeSet): LeftOutSet | undefined {
      if (held.has(set.changeSetId)) return undefined
      const conflict = failureOf(set) ?? composed.add(set)
      if (conflict === undefined) held.set(set.changeSetId, set)
      return conflict
    },
    remove(changeSetId: string): void {
      const set = held.get(changeSetId)
      if (held.delete(changeSetId) && set !== undefined) composed.remove(set)
    },
  }
}
