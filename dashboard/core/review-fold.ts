import type { Event } from '#client/wire.ts'
import type { ChangeView } from '#schemas/change-schema.ts'
import type { DecisionsView, DecisionView, RefusedView, WantedVerdict } from '#schemas/decision-schema.ts'

// What a reviewer sees of the decisions is a fold: of what the service lists, what this page sends, what is answered, and what others decide.
// A decision is shown at once, as `sending`; the answer then says how it stands, or why it was refused.

export type Verdict = ChangeView['verdict']

export type ReviewedSet = {
  change: ChangeView
  /** Was asked for here, and is not answered yet. */
  sending?: Verdict | undefined
  /** The last decision that was asked for here was not made. */
  refused?: { wanted: WantedVerdict; by: RefusedView } | undefined
}

/** Change sets by their ids, in the order in which they are reviewed. */
export type ReviewedSets = ReadonlyMap<string, ReviewedSet>

export type WantedDecision = {
  change_set_id: string
  verdict: WantedVerdict
  reason?: string
  retry?: true
  version: number
}

export const verdictOfWanted = { accept: 'accepted', reject: 'rejected', undo: 'pending' } as const satisfies Record<
  WantedVerdict,
  Verdict
>

/** Returns how it stands with a set, as far as this page knows. */
export function verdictOf({ change, sending }: ReviewedSet): Verdict {
  return sending ?? change.verdict
}

/** Leaves out a change set that a retry has made anew, unless it was accepted: the new one is reviewed. */
function isCurrent({ is_redone: isRedone, verdict }: ChangeView): boolean {
  return !isRedone || verdict === 'accepted'
}

/** Adds what was listed; what is known stays where it is, and keeps its decision if that is newer. */
export function withListed(sets: ReviewedSets, changes: readonly ChangeView[]): ReviewedSets {
  const next = new Map(sets)
  for (const change of changes) {
    const known = next.get(change.change_set_id)
    if (known === undefined && !isCurrent(change)) continue
    const isOlder = versionOf(change.decision) < versionOf(known?.change.decision)
    const { verdict, decision } = known?.change ?? change
    next.set(change.change_set_id, { ...known, change: isOlder ? { ...change, verdict, decision } : change })
  }
  return next
}

function versionOf(decision: DecisionView | null | undefined): number {
  return decision?.version ?? 0
}

/** Shows decisions as made, before the service has answered. */
export function withSent(sets: ReviewedSets, wanted: readonly WantedDecision[]): ReviewedSets {
  return changed(
    sets,
    wanted.map(({ change_set_id: id }) => id),
    (set, at) => {
      const verdict = wanted[at]?.verdict
      return { change: set.change, sending: verdict && verdictOfWanted[verdict] }
    },
  )
}

/** Shows how it stands by the answer: also of sets that were decided with those that were asked for. */
export function withAnswer(
  sets: ReviewedSets,
  wanted: readonly WantedDecision[],
  { decisions, refused }: Pick<DecisionsView, 'decisions' | 'refused'>,
): ReviewedSets {
  const next = new Map(withoutSending(sets, wanted))
  for (const { change_set_id: id, verdict, decision } of decisions) {
    const set = next.get(id)
    if (set !== undefined && versionOf(decision) >= versionOf(set.change.decision))
      next.set(id, { change: { ...set.change, verdict, decision } })
  }
  const verdicts = new Map(wanted.map((one) => [one.change_set_id, one.verdict]))
  for (const by of refused) {
    const set = next.get(by.change_set_id)
    const verdict = verdicts.get(by.change_set_id)
    if (set === undefined || verdict === undefined) continue
    const { decision } = by
    const isLate = decision !== undefined && versionOf(decision) > versionOf(set.change.decision)
    const change = isLate ? { ...set.change, verdict: decision.verdict, decision } : set.change
    next.set(by.change_set_id, { change, refused: { wanted: verdict, by } })
  }
  return next
}

/** Takes back what was shown of decisions whose request has failed. */
export function withoutSending(sets: ReviewedSets, wanted: readonly WantedDecision[]): ReviewedSets {
  return changed(
    sets,
    wanted.map(({ change_set_id: id }) => id),
    (set) => ({ ...set, sending: undefined }),
  )
}

export function withoutRefusal(sets: ReviewedSets, id: string): ReviewedSets {
  return changed(sets, [id], (set) => ({ ...set, refused: undefined }))
}

function changed(
  sets: ReviewedSets,
  ids: readonly string[],
  change: (set: ReviewedSet, at: number) => ReviewedSet,
): ReviewedSets {
  const next = new Map(sets)
  for (const [at, id] of ids.entries()) {
    const set = next.get(id)
    if (set !== undefined) next.set(id, change(set, at))
  }
  return next
}

/** Is what an event `decision.made` says. */
export type MadeDecision = { id: string; decision: DecisionView }

export function decisionIn({ event, seq, ts, origin, data }: Event): MadeDecision | undefined {
  if (event !== 'decision.made') return undefined
  const { change_set_id: id, verdict, reason, note, decided_by_name: name } = data
  if (typeof id !== 'string' || (verdict !== 'accepted' && verdict !== 'rejected' && verdict !== 'pending'))
    return undefined
  const decision: DecisionView = {
    verdict,
    version: seq,
    reason: typeof reason === 'string' ? reason : null,
    decided_at: ts,
    decided_by: `${origin.kind}/${origin.id}`,
    ...(typeof note === 'string' && { note }),
    ...(typeof name === 'string' && { decided_by_name: name }),
  }
  return { id, decision }
}

/** Shows what others have decided, unless something newer is known. What they have decided explains a refusal no more. */
export function withDecisions(sets: ReviewedSets, made: readonly MadeDecision[]): ReviewedSets {
  const next = new Map(sets)
  for (const { id, decision } of made) {
    const set = next.get(id)
    if (set === undefined || decision.version <= versionOf(set.change.decision)) continue
    next.set(id, { change: { ...set.change, verdict: decision.verdict, decision }, sending: set.sending })
  }
  return next
}
