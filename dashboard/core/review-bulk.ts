import type { WantedVerdict } from '#schemas/decision-schema.ts'
import { type ReviewedSet, type ReviewedSets, verdictOf, verdictOfWanted, type WantedDecision } from './review-fold.ts'
import { leftOutWords, proofOf } from './review-words.ts'

/** Says exactly what a decision on many changes would do, before it is sent. */
export type BulkPlan = {
  verdict: WantedVerdict
  /** Is sent, with the versions of the decisions that were seen. */
  wanted: readonly WantedDecision[]
  /** Counts what is sent by agent, and by what its checks say. */
  agents: ReadonlyMap<string, number>
  failing: number
  unchecked: number
  /** Counts what stays as it is, since it is so already. */
  already: number
  /** Counts what stays as it is, since somebody has decided otherwise. */
  otherwise: number
  /** Are left for the reviewer, with why: the service would refuse them, or they would change what others stand on. */
  leftOut: readonly { set: ReviewedSet; why: string }[]
  /** Are decided with them: what an accepted change is built on. */
  withThem: readonly ReviewedSet[]
}

/** Plans one verdict for all of `shown`. Nothing that a person has decided is turned round by it, except by `undo`. */
export function planBulk(verdict: WantedVerdict, shown: readonly ReviewedSet[], all: ReviewedSets): BulkPlan {
  const isShown = new Set(shown.map(({ change }) => change.change_set_id))
  const goal = verdictOfWanted[verdict]
  const open = shown.filter((set) => verdictOf(set) !== goal)
  const [free, decided] = split(open, (set) => verdict === 'undo' || verdictOf(set) === 'pending')
  const reasons = new Map(free.map((set) => [set, whyNot(verdict, set, { all, isShown })] as const))
  const sent = free.filter((set) => reasons.get(set) === undefined)
  const agents = new Map<string, number>()
  for (const { change } of sent) agents.set(change.agent, (agents.get(change.agent) ?? 0) + 1)
  return {
    verdict,
    wanted: sent.map((set) => wantedOf(set, verdict)),
    agents,
    failing: sent.filter(({ change }) => proofOf(change) === 'failed').length,
    unchecked: sent.filter(({ change }) => proofOf(change) === 'unchecked').length,
    already: shown.length - open.length,
    otherwise: decided.length,
    leftOut: free.flatMap((set) => {
      const why = reasons.get(set)
      return why === undefined ? [] : [{ set, why }]
    }),
    withThem: verdict === 'accept' ? basesOf(sent, all, isShown) : [],
  }
}

/** Asks for a decision on a set as it is shown: the service refuses it where somebody has decided otherwise since. */
export function wantedOf({ change }: ReviewedSet, verdict: WantedVerdict): WantedDecision {
  return { change_set_id: change.change_set_id, verdict, version: change.decision?.version ?? 0 }
}

type Around = { all: ReviewedSets; isShown: ReadonlySet<string> }

function whyNot(verdict: WantedVerdict, { change }: ReviewedSet, { all, isShown }: Around): string | undefined {
  const known = (ids: readonly string[]) => ids.flatMap((id) => all.get(id) ?? [])
  if (verdict === 'accept') {
    if (change.conflict !== undefined) return leftOutWords(change.conflict)
    const isRejected = known(change.built_on).some((base) => verdictOf(base) === 'rejected')
    return isRejected ? 'It is built on a change that was rejected' : undefined
  }
  const standing = change.needed_by.filter((id) => !isShown.has(id))
  const isNeeded = known(standing).some((set) => verdictOf(set) === 'accepted')
  return isNeeded ? 'An accepted change is built on it' : undefined
}

function basesOf(sent: readonly ReviewedSet[], all: ReviewedSets, isShown: ReadonlySet<string>): ReviewedSet[] {
  const ids = new Set(sent.flatMap(({ change }) => change.built_on))
  return [...ids].flatMap((id) => {
    const base = all.get(id)
    return base === undefined || isShown.has(id) || verdictOf(base) === 'accepted' ? [] : [base]
  })
}

function split<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))]
}
