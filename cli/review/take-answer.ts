import { unreachable } from '#domain/error.ts'
import type { ChangeView } from '#schemas/change-schema.ts'
import type { DecidedView, DecisionsView, RefusedView } from '#schemas/decision-schema.ts'
import type { SeenDecisions } from '../api-client.ts'
import { pressKey } from './press-key.ts'
import { scrollAt } from './render-review.ts'
import { typePasted } from './type-line.ts'
import {
  type Decided,
  type GivingWay,
  knownChange,
  nameOfChange,
  type ReviewedSet,
  type ReviewEvent,
  type ReviewState,
  show,
  showFollowing,
  shownSet,
  stay,
  type Step,
} from './review-state.ts'
import { isCurrent } from '../run/describe-decisions.ts'

/** Returns what becomes of a review by a key, or by an answer of the service. */
export function takeEvent(state: ReviewState, event: ReviewEvent): Step {
  switch (event.kind) {
    case 'key':
      return pressKey(state, event.key)
    case 'pasted':
      return typePasted(state, event.text)
    case 'resized':
      return { state: { ...state, size: event.size, scroll: scrollAt(event.size, state) }, effects: [] }
    case 'listed':
      return event.where === state.where ? takeListed(state, event) : { state, effects: [] }
    case 'looked':
      return { state: takeLooked(state, event), effects: [] }
    case 'decided':
      return takeDecided({ ...state, isSending: false }, event)
    case 'transcript':
      return takeTranscript(state, event)
    case 'transcript was read':
      return stay(state)
    case 'waited':
      return takeWaited(state)
    case 'failed':
      return takeFailure(state, event)
    default:
      return unreachable(event)
  }
}

type Taken<Kind extends ReviewEvent['kind']> = Extract<ReviewEvent, { kind: Kind }>

/** A reviewer who types, or reads a text, at the end of the list is not interrupted: the list is read after that. */
function takeWaited(state: ReviewState): Step {
  if (!isAtEnd(state)) return { state: { ...state, isPausing: false }, effects: [] }
  if (state.mode.kind !== 'looking') return { state, effects: [{ kind: 'wait' }] }
  return show({ ...state, isPausing: false }, state.at)
}

function isAtEnd(state: ReviewState): boolean {
  return state.list === 'whole' && shownSet(state) === undefined
}

/** Not over what the reviewer has begun meanwhile. */
function takeTranscript(state: ReviewState, { title, text }: Taken<'transcript'>): Step {
  if (state.isSending || state.mode.kind !== 'looking') return { state, effects: [] }
  return stay({ ...state, mode: { kind: 'reading', title, text }, scroll: 0 })
}

/** Brings listed sets up to date; new ones come after them, the newest run's first, without what a retry has made again. */
function takeListed(state: ReviewState, { changes, next: cursor, run }: Taken<'listed'>): Step {
  const current = changes.filter(isCurrent).toReversed()
  const listed = new Map(current.map((change) => [change.change_set_id, change]))
  const before = state.sets.map((set) => refreshed(set, listed.get(set.change.change_set_id)))
  const known = new Set(before.map(({ change }) => change.change_set_id))
  const added = [...listed.values()]
    .toReversed()
    .filter(({ change_set_id: id }) => !known.has(id))
    .map((change) => ({ change }))
  const list = cursor === null ? 'whole' : 'in part'
  const next: ReviewState = { ...state, sets: [...before, ...added], run, list, cursor }
  if (shownSet(state) === undefined && shownSet(next) !== undefined) {
    const { state: shown, effects } = show(next, next.at, state.message)
    return { state: { ...shown, mode: state.mode }, effects }
  }
  if (list === 'in part') return listOn(next)
  const pauses = run === 'goes on' && isAtEnd(next) && !next.isPausing
  return pauses ? { state: { ...next, isPausing: true }, effects: [{ kind: 'wait' }] } : { state: next, effects: [] }
}

/** Lists more while that is due. What is shown, and what its reviewer does there, stays as it is. */
function listOn(state: ReviewState): Step {
  const { state: shown, effects } = show(state, state.at, state.message)
  const { mode, scroll } = state
  return { state: { ...shown, mode, scroll }, effects: effects.filter(({ kind }) => kind === 'list') }
}

/** An answer that was on its way while somebody decided is older than what is known. */
function refreshed(set: ReviewedSet, change: ChangeView | undefined): ReviewedSet {
  const { verdict, decision } = set.change
  if (change === undefined) return set
  const isOlder = (change.decision?.version ?? 0) < (decision?.version ?? 0)
  return { ...set, change: isOlder ? { ...change, verdict, decision } : change }
}

function takeLooked(state: ReviewState, { id, changes, summary, builtOn = [] }: Taken<'looked'>): ReviewState {
  const now = changes.find((change) => change.change_set_id === id && isCurrent(change))
  const earlier = changes.filter((change) => change.is_redone && change.change_set_id !== id)
  const sets = state.sets.map((set) =>
    set.change.change_set_id === id ? { ...refreshed(set, now), summary, earlier, builtOn } : set,
  )
  return { ...state, sets }
}

/** A reviewer who was about to quit first sees that the decision was not made. A failure of a list that was replaced is not shown. */
function takeFailure(state: ReviewState, { effect, message }: Taken<'failed'>): Step {
  const failed = { text: message, style: 'red' as const }
  if (effect.kind === 'list') {
    return effect.where === state.where ? stay({ ...state, list: 'in part' }, failed) : { state, effects: [] }
  }
  return stay(effect.kind === 'decide' ? { ...state, isSending: false, isQuitting: false } : state, failed)
}

/** The set that was decided on comes last in `wanted`; the service may have decided on others with it. */
function takeDecided(state: ReviewState, { wanted, answer }: Taken<'decided'>): Step {
  const id = wanted.decisions.at(-1)?.change_set_id
  const noted = noteDecisions({ ...state, retry: answer.retry ?? state.retry }, wanted, answer)
  const refusal = refusalToShow(answer, id)
  if (refusal !== undefined) return takeRefusal({ ...noted, isQuitting: false }, refusal, wanted)
  const step = afterDecision(noted, { id, answer })
  return state.isQuitting ? { ...step, effects: [{ kind: 'quit' }] } : step
}

/**
 * Returns the refusal because of what somebody else has decided meanwhile; else that of the set itself, unless another one was to
 * give way to it and could not because of what is built on it: then the set still collides, and the other refusal says what to
 * decide next.
 */
function refusalToShow({ refused }: DecisionsView, id: string | undefined): RefusedView | undefined {
  const late = refused.find((refusal) => refusal.error_code === 'WORK_003')
  if (late !== undefined) return late
  const own = refused.find((refusal) => refusal.change_set_id === id)
  const other = refused.find((refusal) => refusal.change_set_id !== id && refusal.blocked_by !== undefined)
  return (own?.conflict === undefined ? own : (other ?? own)) ?? refused[0]
}

function noteDecisions(state: ReviewState, wanted: SeenDecisions, answer: DecisionsView): ReviewState {
  const now = new Map(answer.decisions.map((view) => [view.change_set_id, view]))
  const decided = new Map(state.decided)
  for (const view of now.values()) {
    decided.delete(view.change_set_id)
    const isOurs = view.made || wanted.decisions.some(({ change_set_id: id }) => id === view.change_set_id)
    const ours = isOurs
      ? decidedHere(view, state, { isSentBack: Boolean(answer.retry) })
      : state.decided.get(view.change_set_id)
    if (ours !== undefined) decided.set(view.change_set_id, ours)
  }
  const decidedOn = (change: ChangeView): ChangeView => {
    const view = now.get(change.change_set_id)
    return view === undefined ? change : { ...change, verdict: view.verdict, decision: view.decision }
  }
  const sets = state.sets.map((set): ReviewedSet => {
    const { change, builtOn } = set
    return { ...set, change: decidedOn(change), ...(builtOn && { builtOn: builtOn.map(decidedOn) }) }
  })
  return { ...state, sets, decided }
}

function decidedHere(
  { change_set_id: id, verdict, decision }: DecidedView,
  state: ReviewState,
  { isSentBack }: { isSentBack: boolean },
): Decided | undefined {
  if (verdict !== 'accepted' && verdict !== 'rejected') return undefined
  if (verdict === 'accepted' || decision === null || decision.reason === null) return { verdict, word: 'none' }
  // A program would make the same fix again.
  const isMechanical = (knownChange(state, id)?.rules ?? []).length > 0
  if (isMechanical) return { verdict, word: 'for people' }
  return { verdict, word: isSentBack ? 'sent back' : 'for the agent' }
}

/** Shows the next set, or the same one when a decision on it was taken back. */
function afterDecision(state: ReviewState, { id, answer }: { id: string | undefined; answer: DecisionsView }): Step {
  const own = answer.decisions.find((decision) => decision.change_set_id === id)
  const others = answer.decisions.filter((decision) => decision.made && decision !== own)
  const texts = [...(own === undefined ? [] : [own]), ...others].map((decision) => decidedText(decision, state))
  const message = { text: texts.join('; also '), style: 'green' as const }
  return own?.verdict === 'pending' ? show(state, state.at, message) : showFollowing(state, message)
}

function decidedText(decision: DecidedView, state: ReviewState): string {
  const { made, was, verdict, change_set_id: id } = decision
  const name = nameOfChange({ ...decision, rules: knownChange(state, id)?.rules ?? [] })
  const before = made && was !== 'pending' && was !== verdict ? ` (was ${was})` : ''
  return `${made ? '' : 'already '}${verdict === 'pending' ? 'pending again' : verdict} ${name}${before}`
}

/** Shows somebody else's decision instead of overwriting it; over other sets in the way the reviewer decides. */
function takeRefusal(state: ReviewState, refusal: RefusedView, wanted: SeenDecisions): Step {
  const { error_code: code, change_set_id: id, decision, detail } = refusal
  if (code === 'WORK_003') {
    const sets = state.sets.map((set): ReviewedSet => {
      if (set.change.change_set_id !== id) return set
      const change = { ...set.change, verdict: decision?.verdict ?? 'pending', decision: decision ?? null }
      return { ...set, change }
    })
    return show({ ...state, sets }, state.at, { text: `not sent: ${detail}`, style: 'yellow' })
  }
  const isChoice = refusal.conflict !== undefined || refusal.blocked_by !== undefined
  const refused = wanted.decisions.at(-1)
  if (!isChoice || refused === undefined) return stay(state, { text: `${code} ${detail}`, style: 'red' })
  const instead = givingWay(refusal, wanted)
  const choosing = { ...state, mode: { kind: 'refused' as const, refusal, refused, instead }, scroll: 0 }
  const count = instead?.decisions.length ?? 0
  const message = { text: `nothing is changed yet: this one collides with ${count} accepted changes`, style: 'yellow' }
  return stay(choosing, count > 1 ? { ...message, style: 'yellow' } : undefined)
}

/** Returns what is to be taken back for the set to be accepted: what it collides with, then the same with what is built on it. */
function givingWay(refusal: RefusedView, { decisions, withDependents }: SeenDecisions): GivingWay | undefined {
  const [set, before] = [decisions.at(-1), decisions.slice(0, -1)]
  const { change_set_id: id, conflict, blocked_by: blockedBy, with_decision: decision } = refusal
  if (set?.verdict !== 'accept') return undefined
  if (id !== set.change_set_id) return blockedBy && { decisions: before, withDependents: true }
  const other = conflict?.with?.change_set_id
  if (other === undefined) return undefined
  const undo = { change_set_id: other, verdict: 'undo' as const, ...(decision && { version: decision.version }) }
  return { decisions: [...before, undo], ...(withDependents && { withDependents }) }
}
