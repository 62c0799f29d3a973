import { bodyOf, clampedScroll, hasDependents } from './render-review.ts'
import { helpText, skippedSets } from './review-texts.ts'
import {
  type Key,
  type ReviewState,
  send,
  show,
  showFollowing,
  shownSet,
  stay,
  type Step,
  withoutChange,
} from './review-state.ts'
import { startTyping, typeKey } from './type-line.ts'

/** Does what a key says. While a decision has no answer, only the end can be asked for. */
export function pressKey(state: ReviewState, key: Key): Step {
  if (key.name === 'ctrl-c') return quit(state)
  if (state.isSending) return key.text === 'q' ? quit(state) : { state, effects: [] }
  if (state.mode.kind === 'typing') return typeKey(state, key)
  const scrolled = scroll(state, key)
  if (scrolled !== undefined) return { state: scrolled, effects: [] }
  if (state.mode.kind === 'reading') return leaveText(state, key)
  if (state.mode.kind === 'refused') return chooseOver(state, key)
  const command = commands[key.text] ?? commands[key.name]
  return command === undefined ? stay(state, { text: 'no such key: ? lists them', style: 'dim' }) : command(state)
}

const commands: Readonly<Record<string, (state: ReviewState) => Step>> = {
  a: (state) => send(state, { verdict: 'accept' }),
  r: (state) => send(state, { verdict: 'reject' }),
  w: (state) => (shownSet(state) === undefined ? withoutChange(state) : startTyping(state, 'reason')),
  s: skip,
  n: next,
  right: next,
  return: next,
  b: back,
  left: back,
  u: undo,
  t: openTranscript,
  f: (state) => startTyping(state, 'conditions'),
  '?': (state) => read(state, 'keys', helpText),
  q: quit,
}

/** A second request does not wait for the answer to a decision. */
function quit(state: ReviewState): Step {
  const waits = state.isSending && !state.isQuitting
  const message = { text: 'ends when the decision is answered; again: at once', style: 'dim' as const }
  const quitting = { ...state, isQuitting: true, message: waits ? message : state.message }
  return { state: quitting, effects: waits ? [] : [{ kind: 'quit' }] }
}

function skip(state: ReviewState): Step {
  const shown = shownSet(state)
  if (shown === undefined) return skippedAgain(state)
  if (shown.change.verdict !== 'pending') return next(state)
  return showFollowing({ ...state, skipped: new Set([...state.skipped, shown.change.change_set_id]) })
}

/** Goes, at the end of the list, to the first of the sets that were skipped and are still pending. */
function skippedAgain(state: ReviewState): Step {
  const [first] = skippedSets(state)
  if (first === undefined) return stay(state, { text: 'nothing was skipped', style: 'dim' })
  return show(state, state.sets.indexOf(first))
}

/** Shows the next set. At the end of the list it is read again. */
function next(state: ReviewState): Step {
  return show(state, Math.min(state.at + 1, state.sets.length))
}

function back(state: ReviewState): Step {
  return state.at === 0 ? stay(state, { text: 'this is the first', style: 'dim' }) : show(state, state.at - 1)
}

/** Takes back the decision on the shown set, else the one that was made last. */
function undo(state: ReviewState): Step {
  const shown = shownSet(state)
  if (shown !== undefined && shown.change.verdict !== 'pending') return send(state, { verdict: 'undo' })
  const last = [...state.decided.keys()].at(-1)
  const at = state.sets.findIndex(({ change }) => change.change_set_id === last)
  if (at < 0) return stay(state, { text: 'nothing to take back', style: 'dim' })
  const shownAgain = show(state, at)
  const sent = send(shownAgain.state, { verdict: 'undo' })
  return { state: sent.state, effects: [...shownAgain.effects, ...sent.effects] }
}

function openTranscript(state: ReviewState): Step {
  const change = shownSet(state)?.change
  if (change === undefined) return withoutChange(state)
  const step = stay(state, { text: 'reading the transcript …', style: 'dim' })
  return { ...step, effects: [{ kind: 'open transcript', change }] }
}

function read(state: ReviewState, title: string, text: string): Step {
  return stay({ ...state, mode: { kind: 'reading', title, text }, scroll: 0 })
}

function leaveText(state: ReviewState, { name, text }: Key): Step {
  if (text !== 'q' && text !== '?' && name !== 'escape' && name !== 'return') return { state, effects: [] }
  return stay({ ...state, mode: { kind: 'looking' }, scroll: 0 })
}

/** Lets a colliding set replace the accepted one, be rejected or stay, and decides on a set with all that is built on it, or leaves it. */
function chooseOver(state: ReviewState, { name, text }: Key): Step {
  if (state.mode.kind !== 'refused') return { state, effects: [] }
  const { instead } = state.mode
  const { verdict, reason } = state.mode.refused
  const noSuchKey = () => stay(state, { text: 'no such key here: the keys are below', style: 'dim' })
  switch (text) {
    case 'd':
      if (!hasDependents(state.mode)) return noSuchKey()
      return send(state, { verdict, ...(reason !== undefined && { reason }), withDependents: true })
    case 'i': {
      if (instead === undefined) return noSuchKey()
      const { decisions: others, withDependents } = instead
      return send(state, { verdict: 'accept', others, ...(withDependents && { withDependents }) })
    }
    case 'r':
      return instead === undefined ? noSuchKey() : send(state, { verdict: 'reject' })
    case 'w':
      return instead === undefined ? noSuchKey() : startTyping({ ...state, scroll: 0 }, 'reason')
    case 'q':
      return quit(state)
    default:
      if (text !== 'k' && name !== 'escape') return noSuchKey()
      return stay({ ...state, mode: { kind: 'looking' }, scroll: 0 }, { text: 'left as it is', style: 'dim' })
  }
}

/** Undefined for a key that moves nothing. */
function scroll(state: ReviewState, { name, text }: Key): ReviewState | undefined {
  const { lines, room } = bodyOf(state)
  const page = Math.max(1, room - 1)
  const steps: Readonly<Record<string, number>> = {
    ' ': page,
    pagedown: page,
    pageup: -page,
    down: 1,
    j: 1,
    up: -1,
    k: -1,
    home: -lines.length,
    end: lines.length,
    g: -lines.length,
    G: lines.length,
  }
  const step = state.mode.kind === 'refused' && text === 'k' ? undefined : (steps[text] ?? steps[name])
  return step === undefined
    ? undefined
    : { ...state, scroll: clampedScroll({ lines, room }, clampedScroll({ lines, room }, state.scroll) + step) }
}
