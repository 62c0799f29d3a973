import { InvalidArgumentError } from 'commander'
import { maxReasonCharacters } from '#domain/decision.ts'
import { conditionsLine, faultOfAgent, readConditions, type Where } from '../run/change-conditions.ts'
import { onOneLine } from '../terminal-text.ts'
import { charactersOf } from './fold-text.ts'
import { type Key, type ReviewState, send, startReview, stay, type Step } from './review-state.ts'

/** Asks for one line: why a change is rejected, or which changes are shown. */
export function startTyping(state: ReviewState, what: 'reason' | 'conditions'): Step {
  const text = what === 'reason' ? '' : conditionsLine(state.where)
  return stay({ ...state, mode: { kind: 'typing', what, text, after: '' } })
}

const lastWord = /\S+\s*$/
const firstWord = /^\s*\S+/

export function typeKey(state: ReviewState, { name, text }: Key): Step {
  const { mode } = state
  if (mode.kind !== 'typing') return { state, effects: [] }
  const line = mode.text + mode.after
  switch (name) {
    case 'escape':
      return stay({ ...state, mode: { kind: 'looking' } }, { text: 'nothing is changed', style: 'dim' })
    case 'return':
    case 'enter':
      return mode.what === 'reason' ? sendReason(state, line.trim()) : applyConditions(state, line)
    case 'backspace':
      return typed(state, charactersOf(mode.text).slice(0, -1).join(''))
    case 'ctrl-u':
      return typed(state, '', '')
    case 'delete':
      return typed(state, mode.text, charactersOf(mode.after).slice(1).join(''))
    case 'left':
      return moved(state, charactersOf(mode.text).length - 1)
    case 'right':
      return moved(state, charactersOf(mode.text).length + 1)
    case 'home':
    case 'ctrl-a':
      return moved(state, 0)
    case 'end':
    case 'ctrl-e':
      return moved(state, Infinity)
    case 'ctrl-w':
    case 'alt-backspace':
      return typed(state, mode.text.replace(lastWord, ''))
    case 'alt-d':
      return typed(state, mode.text, mode.after.replace(firstWord, ''))
    case 'alt-b':
    case 'alt-left':
    case 'ctrl-left':
      return moved(state, charactersOf(mode.text.replace(lastWord, '')).length)
    case 'alt-f':
    case 'alt-right':
    case 'ctrl-right':
      return moved(state, charactersOf(line).length - charactersOf(mode.after.replace(firstWord, '')).length)
    default:
      return text === '' ? { state, effects: [] } : typed(state, mode.text + text)
  }
}

/** Pasted text is never taken for keys: it only goes into a line that is typed. */
export function typePasted(state: ReviewState, text: string): Step {
  const { mode } = state
  return mode.kind === 'typing' ? typed(state, mode.text + text.trimEnd()) : { state, effects: [] }
}

/** Returns the line with `text` before the cursor, and what was behind it, unless that changes, too. */
function typed(state: ReviewState, text: string, behind?: string): Step {
  if (state.mode.kind !== 'typing') return { state, effects: [] }
  const after = behind ?? state.mode.after
  const line = onOneLine(text).slice(0, Math.max(0, maxReasonCharacters - after.length))
  return stay({ ...state, mode: { ...state.mode, text: line, after } })
}

/** Returns the cursor after so many characters, or at an end of the line. */
function moved(state: ReviewState, to: number): Step {
  if (state.mode.kind !== 'typing') return { state, effects: [] }
  const all = charactersOf(state.mode.text + state.mode.after)
  const at = Math.max(0, to)
  return typed(state, all.slice(0, at).join(''), all.slice(at).join(''))
}

function sendReason(state: ReviewState, reason: string): Step {
  if (reason !== '') return send(state, { verdict: 'reject', reason })
  return stay({ ...state, mode: { kind: 'looking' } }, { text: 'without a word, nothing is rejected', style: 'dim' })
}

/** Lists anew. What was decided here is still counted. */
function applyConditions(state: ReviewState, line: string): Step {
  const read = conditionsOf(line)
  if ('fault' in read) return stay(state, { text: read.fault, style: 'red' })
  const fault = faultOfAgent(read.where, state.agents)
  if (fault !== undefined) return stay(state, { text: `this run has ${fault}`, style: 'red' })
  const { state: anew, effects } = startReview({ ...state, where: read.where })
  const { decided, retry, skipped, isPausing } = state
  return { state: { ...anew, decided, retry, skipped, isPausing }, effects }
}

function conditionsOf(line: string): { where: Where } | { fault: string } {
  try {
    return { where: readConditions(line) }
  } catch (error) {
    if (error instanceof InvalidArgumentError) return { fault: error.message }
    throw error
  }
}
