import { openComposedFiles, type LeftOutSet } from '#composition/compose-change-sets.ts'
import type { ChangeSet } from '#domain/change-set.ts'
import type { Decision, Verdict } from '#domain/decision.ts'
import type { Conflict } from '#objects/composition.ts'

export type WantedDecision = {
  changeSetId: string
  verdict: Verdict
  /** Null: as it was said before, if it was. */
  reason: string | null
  /** Of the decision on the set as whoever decides has seen it, 0 for none; undefined: whatever it is by now. */
  version: number | undefined
}

/** Why a decision is not made; `conflict` names the other set of WORK_001 and WORK_004. */
export type RefusedDecision = {
  changeSetId: string
  errorCode: 'RUN_004' | 'WORK_001' | 'WORK_003' | 'WORK_004'
  conflict?: LeftOutSet
  /** Of WORK_003: what was decided meanwhile. */
  decision?: Decision | undefined
}

export type KnownSets = {
  /** At least those to decide on and those that are accepted. */
  sets: ReadonlyMap<string, ChangeSet>
  decisions: ReadonlyMap<string, Decision>
  /** What the composition of the run has proved about sets that cannot be together. */
  conflicts: readonly Pick<Conflict, 'changeSetId' | 'operationId' | 'path' | 'errorCode' | 'reason' | 'with'>[]
}

/** `made`: those that change something. A decision that was made before is neither made nor refused. */
export type JudgedDecisions = { made: WantedDecision[]; refused: RefusedDecision[] }

/** Judges decisions in their order, each by what the ones before it have made of the accepted sets. */
export function judgeDecisions(wanted: readonly WantedDecision[], known: KnownSets): JudgedDecisions {
  const { sets, decisions } = known
  const accepted = openAccepted(known)
  const made: WantedDecision[] = []
  const refused: RefusedDecision[] = []
  for (const one of wanted) {
    const { changeSetId, verdict, reason, version } = one
    const [set, decision] = [sets.get(changeSetId), decisions.get(changeSetId)]
    if (set === undefined) {
      refused.push({ changeSetId, errorCode: 'RUN_004' })
      continue
    }
    const isSame = (decision?.verdict ?? 'pending') === verdict && (reason === null || reason === decision?.reason)
    if (isSame) continue
    if (version !== undefined && version !== (decision?.version ?? 0)) {
      refused.push({ changeSetId, errorCode: 'WORK_003', decision })
      continue
    }
    const conflict = verdict === 'accepted' ? accepted.add(set) : accepted.remove(set)
    if (conflict === undefined) made.push(one)
    else refused.push({ changeSetId, errorCode: conflict.errorCode, conflict })
  }
  return { made, refused }
}

/** The accepted sets, none of which collides with another. */
function openAccepted({ sets, decisions, conflicts }: KnownSets) {
  const held = new Map<string, ChangeSet>()
  for (const { changeSetId, verdict } of decisions.values()) {
    const set = sets.get(changeSetId)
    if (verdict === 'accepted' && set !== undefined) held.set(changeSetId, set)
  }
  const composed = openComposedFiles()
  for (const set of held.values()) composed.add(set)
  const broken = conflicts.filter(({ errorCode }) => errorCode === 'WORK_004')
  /** A set with which a check fails together with another one that is accepted. */
  const failureOf = ({ changeSetId }: ChangeSet): LeftOutSet | undefined => {
    for (const conflict of broken) {
      const { with: other, path, errorCode, reason, operationId } = conflict
      if (other === undefined) continue // it may be sound among others: the accepted patch proves it
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
    /** Why the set cannot be accepted, if it cannot. */
    add(set: ChangeSet): LeftOutSet | undefined {
      if (held.has(set.changeSetId)) return undefined
      const conflict = failureOf(set) ?? composed.add(set)
      if (conflict === undefined) held.set(set.changeSetId, set)
      return conflict
    },
    remove(set: ChangeSet): undefined {
      if (held.delete(set.changeSetId)) composed.remove(set)
    },
  }
}
