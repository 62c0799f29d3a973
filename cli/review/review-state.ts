import type { ChangeView } from '#schemas/change-schema.ts'
import type { DecisionsView, RefusedView, RejectedRetry } from '#schemas/decision-schema.ts'
import { nodePlace } from '#domain/timeline/words.ts'
import type { SeenDecision, SeenDecisions } from '../api-client.ts'
import type { Where } from '../run/change-conditions.ts'

// `remora review` is a pure machine and a thin shell around it. A key, or an answer of the service, is a ReviewEvent; a step
// makes the next ReviewState of it, and the Effects that the shell has to have: requests, and the end. The screen is drawn from
// the state alone. So what a reviewer meets is tested without a terminal or a service.

export type Size = { columns: number; rows: number }

/** A change set under review. `summary`, `earlier` and `builtOn` are known once it was looked at. */
export type ReviewedSet = {
  change: ChangeView
  /** Repeats what its agent said at the end. */
  summary?: string
  /** Earlier sets of its operation, which a retry has made again. */
  earlier?: readonly ChangeView[]
  /** The first of those that it is built on. */
  builtOn?: readonly ChangeView[]
}

export type Mode =
  | { kind: 'looking' }
  /** `text` is before the cursor, `after` behind it. */
  | { kind: 'typing'; what: 'reason' | 'conditions'; text: string; after: string }
  /** A decision was refused because of other sets, and the reviewer chooses. `instead`: what is to give way to the set, if anything can. */
  | { kind: 'refused'; refusal: RefusedView; refused: SeenDecision; instead: GivingWay | undefined }
  /** A text of its own, line by line: a transcript, or the help. */
  | { kind: 'reading'; title: string; text: string }

/** Accepted sets that are taken back in the same request in which another one is accepted, or it is refused as a whole. */
export type GivingWay = SeenDecisions

export type Message = { text: string; style: 'green' | 'yellow' | 'red' | 'dim' }

export type ReviewState = {
  runId: string
  agents: readonly string[]
  size: Size
  where: Where
  sets: readonly ReviewedSet[]
  /** The set that is shown; `sets.length` at the end of the list. */
  at: number
  /** Lines above the first that is shown. */
  scroll: number
  mode: Mode
  /** Says how much of the list of change sets was read. */
  list: 'under way' | 'in part' | 'whole'
  /** Says where the list is read on; null is its start. */
  cursor: string | null
  run: Progress
  /** The time until the list is read again is running: it is never started twice. */
  isPausing: boolean
  /** A decision has no answer yet: nothing else is decided meanwhile. */
  isSending: boolean
  /** The reviewer wants to end once that answer is there. */
  isQuitting: boolean
  message: Message | undefined
  /** Holds what was decided here, in this order, by the ids of the sets. */
  decided: ReadonlyMap<string, Decided>
  /** The run in which rejected changes are tried again, as the last answer said. */
  retry: RejectedRetry | undefined
  skipped: ReadonlySet<string>
}

/** Says whether the run may still bring change sets: it stands still where nobody works on it. */
export type Progress = 'goes on' | 'stands still' | 'ended'

/** Says whether a rejection has a reason, and who will read it: people, where a program made the change, else the agent when it is retried. */
export type Decided = { verdict: 'accepted' | 'rejected'; word: 'none' | 'for people' | 'for the agent' | 'sent back' }

export type Key = { name: string; text: string }

export type ReviewEvent =
  | { kind: 'key'; key: Key }
  | { kind: 'pasted'; text: string }
  | { kind: 'resized'; size: Size }
  /** Some of the change sets that meet `where`. */
  | { kind: 'listed'; where: Where; changes: readonly ChangeView[]; next: string | null; run: Progress }
  /** All that the run has of the work of the operation that made a set, and the first of those that the set is built on. */
  | { kind: 'looked'; id: string; changes: readonly ChangeView[]; summary: string; builtOn?: readonly ChangeView[] }
  | { kind: 'decided'; wanted: SeenDecisions; answer: DecisionsView }
  | { kind: 'transcript'; title: string; text: string }
  /** The reviewer has read it in a program of their own. */
  | { kind: 'transcript was read' }
  | { kind: 'waited' }
  | { kind: 'failed'; effect: Effect; message: string }

export type Effect =
  /** Reads the list on; from the start, `cursor` null, it also finds what has come since. */
  | { kind: 'list'; where: Where; cursor: string | null }
  | { kind: 'look'; change: ChangeView }
  | ({ kind: 'decide' } & SeenDecisions)
  | { kind: 'open transcript'; change: ChangeView }
  /** A while, before the list is read again. */
  | { kind: 'wait' }
  | { kind: 'quit' }

export type Step = { state: ReviewState; effects: readonly Effect[] }

/** So many sets are listed ahead of the one that is shown. */
const listedAhead = 1_000

export function startReview(given: Pick<ReviewState, 'runId' | 'agents' | 'size' | 'where'>): Step {
  const state: ReviewState = {
    ...given,
    sets: [],
    at: 0,
    scroll: 0,
    mode: { kind: 'looking' },
    list: 'under way',
    cursor: null,
    run: 'stands still',
    isPausing: false,
    isSending: false,
    isQuitting: false,
    message: undefined,
    decided: new Map(),
    retry: undefined,
    skipped: new Set(),
  }
  return { state, effects: [{ kind: 'list', where: given.where, cursor: null }] }
}

export function shownSet({ sets, at }: ReviewState): ReviewedSet | undefined {
  return sets[at]
}

/** Returns the state alone, with a message where there is something to say. */
export function stay(state: ReviewState, message?: Message): Step {
  return { state: { ...state, message }, effects: [] }
}

export function withoutChange(state: ReviewState): Step {
  return stay(state, { text: 'no change is shown', style: 'yellow' })
}

/** Shows another set, or the end of the list, of which then more is read. */
export function show(state: ReviewState, at: number, message?: Message): Step {
  const moved: ReviewState = { ...state, at, scroll: 0, mode: { kind: 'looking' }, message }
  const change = shownSet(moved)?.change
  const look: readonly Effect[] = change === undefined ? [] : [{ kind: 'look', change }]
  if (moved.list === 'under way') return { state: moved, effects: look }
  if (change !== undefined && (moved.list === 'whole' || at + listedAhead < moved.sets.length)) {
    return { state: moved, effects: look }
  }
  const { where, cursor } = moved
  return { state: { ...moved, list: 'under way' }, effects: [...look, { kind: 'list', where, cursor }] }
}

/** Shows the next set, or the end. Where only pending ones are reviewed, those decided on meanwhile are passed over. */
export function showFollowing(state: ReviewState, message?: Message): Step {
  const { sets, at, where } = state
  const nextPending = sets.findIndex(({ change }, index) => index > at && change.verdict === 'pending')
  if (where['verdict'] === 'pending') return show(state, nextPending < 0 ? sets.length : nextPending, message)
  return show(state, Math.min(at + 1, sets.length), message)
}

/**
 * Decides on the set as it is shown, before it on `others`, and with `withDependents` also on what is built on it. An agent's change that
 * is rejected with a word while the run, or a retry of what was sent back before, goes on is sent back, too: all of these are tried again
 * in one retry after its end.
 */
export function send(state: ReviewState, { verdict, reason, others = [], withDependents }: SentDecision): Step {
  const shown = shownSet(state)
  if (shown === undefined) return withoutChange(state)
  const { change_set_id: id, decision, rules } = shown.change
  const goesOn = state.run !== 'ended' || state.retry !== undefined
  const isSentBack = reason !== undefined && goesOn && rules.length === 0
  const wanted = {
    change_set_id: id,
    verdict,
    version: decision?.version ?? 0,
    ...(reason !== undefined && { reason }),
    ...(isSentBack && { retry: true as const }),
  }
  const sending: ReviewState = {
    ...state,
    mode: { kind: 'looking' },
    isSending: true,
    message: { text: 'sending …', style: 'dim' },
  }
  const decide = { kind: 'decide' as const, decisions: [...others, wanted] }
  return { state: sending, effects: [{ ...decide, ...(withDependents && { withDependents }) }] }
}

type SentDecision = Pick<SeenDecision, 'verdict' | 'reason'> & {
  others?: readonly SeenDecision[]
  withDependents?: true
}

/** Returns the change set of this id, as far as it was listed or looked at. */
export function knownChange({ sets }: ReviewState, id: string): ChangeView | undefined {
  return sets.flatMap(({ change, builtOn = [] }) => [change, ...builtOn]).find((known) => known.change_set_id === id)
}

/** `docstring shop/stock.py Stock.add (F401)` */
export function nameOfChange({ agent, path, qualified_name: name, rules = [] }: Named): string {
  return [agent, nodePlace(path, name), ...(rules.length === 0 ? [] : [`(${rules.join(', ')})`])].join(' ')
}
type Named = Pick<ChangeView, 'agent' | 'path' | 'qualified_name'> & { rules?: readonly string[] }
