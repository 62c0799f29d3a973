import { sizeOf, textLines } from '../run/describe-decisions.ts'
import { conditionsLine } from '../run/change-conditions.ts'
import { leftOutText } from '../progress/result-report.ts'
import { onOneLine, openPaint, type Paint, paintMarkdown, visible, widthOf } from '../terminal-text.ts'
import { type BodyLine, describeChange, partOf, verdictStyles } from './describe-change.ts'
import { bothEnds, clipTo, endOf, fold, foldProse, foldQuoted } from './fold-text.ts'
import { type Mode, nameOfChange, type ReviewState, shownSet, type Size } from './review-state.ts'
import { countsText, endText, keyTexts, placeText } from './review-texts.ts'

/** The part of the screen that scrolls: all its lines, and how many of them there is room for. */
export type Body = { lines: readonly BodyLine[]; room: number }

const plain = openPaint(false)
const headRows = 3
/** Nothing can be read on a smaller screen; what does not fit on it is cut off. */
const least = { columns: 20, rows: 7 }
/** So many lines are the change's before messages and the list of keys get theirs. */
const leastBody = 3

/** Returns the whole screen, from top to bottom: head, body, and what the keys do. No line is wider than the terminal. */
export function renderReview(state: ReviewState, paint: Paint): string[] {
  const { columns: width } = sizeOfScreen(state)
  const body = bodyOf(state, paint)
  const first = clampedScroll(body, state.scroll)
  const shown = body.lines.slice(first, first + body.room).map(({ text }) => text)
  const blank = Array.from({ length: body.room - shown.length }, () => '')
  return [
    ...headLines(state, width, paint),
    paint('dim', '─'.repeat(width)),
    ...shown,
    ...blank,
    paint('dim', scrollLine(body, first, width)),
    ...messageLines(state, paint),
    ...keyLines(state).map((line) => paint('dim', line)),
  ].slice(0, state.size.rows)
}

export function clampedScroll({ lines, room }: Body, scroll: number): number {
  return Math.max(0, Math.min(scroll, lines.length - room))
}

/** Returns the lines above the first that is shown, once the screen has another size: what was at its top stays there. */
export function scrollAt(size: Size, state: ReviewState): number {
  const [before, after] = [bodyOf(state), bodyOf({ ...state, size })]
  const first = clampedScroll(before, state.scroll)
  if (first === 0) return 0
  const starts = new Map(after.lines.map(({ part }, at) => [part, at] as const).toReversed())
  const kept = before.lines.slice(first).find(({ part }) => starts.has(part))
  if (kept === undefined) return state.scroll
  const within = first - before.lines.findIndex(({ part }) => part === kept.part)
  const length = after.lines.filter(({ part }) => part === kept.part).length
  return (starts.get(kept.part) ?? 0) + Math.max(0, Math.min(within, length - 1))
}

function sizeOfScreen({ size: { columns, rows } }: ReviewState) {
  return { columns: Math.max(least.columns, columns), rows: Math.max(least.rows, rows) }
}

export function bodyOf(state: ReviewState, paint: Paint = plain): Body {
  const { columns: width, rows } = sizeOfScreen(state)
  const room = Math.max(1, rows - headRows - 1 - messageLines(state, plain).length - keyLines(state).length)
  return { room, lines: bodyLines(state, { width, room }, paint) }
}

function bodyLines(state: ReviewState, { width, room }: { width: number; room: number }, paint: Paint): BodyLine[] {
  const { mode } = state
  if (mode.kind === 'reading') {
    const text = visible(mode.text).split('\n')
    const lines = text.flatMap((line, at) => partOf(`line ${at}`, foldProse(line, width)))
    const painted = paintMarkdown(lines.map((line) => line.text).join('\n'), paint).split('\n')
    return lines.map(({ part }, at) => ({ part, text: painted[at] ?? '' }))
  }
  if (mode.kind === 'refused') return partOf('refusal', refusalLines(mode, width, paint))
  const shown = shownSet(state)
  if (shown === undefined)
    return partOf(
      'end',
      endText(state).flatMap((line) => foldProse(line, width)),
    )
  return describeChange(shown, { columns: width, rows: room }, paint)
}

/** Is true when sets that are built on this one keep it from being rejected or taken back. */
export function hasDependents(mode: Mode): boolean {
  return mode.kind === 'refused' && mode.refused.verdict !== 'accept' && mode.refusal.blocked_by !== undefined
}

function refusalLines(mode: Extract<Mode, { kind: 'refused' }>, width: number, paint: Paint): string[] {
  const { conflict, error_code: code, detail } = mode.refusal
  const why = conflict === undefined ? `${code}  ${detail}` : leftOutText(conflict)
  const own = conflict === undefined ? [] : textLines(conflict, ' would make of it')
  const other = conflict?.with === undefined ? [] : textLines(conflict.with, ', which is accepted, makes of it')
  return [
    ...foldProse(`${refusedTexts[mode.refused.verdict]}: ${why}`, width).map((line) => paint('red', line)),
    ...[own, other].flatMap((lines) =>
      lines.length === 0 ? [] : ['', ...lines.flatMap((line) => foldQuoted(line, width))],
    ),
  ]
}

const refusedTexts = { accept: 'Not accepted', reject: 'Not rejected', undo: 'Not taken back' } as const

function headLines(state: ReviewState, width: number, paint: Paint): string[] {
  const { mode } = state
  const shown = shownSet(state)
  const name = shown === undefined ? `run ${state.runId}` : nameOfChange(shown.change)
  const title = mode.kind === 'reading' ? mode.title : name
  const first = paint('bold', bothEnds(onOneLine(title), placeText(state), width))
  if (shown === undefined) {
    const conditions = conditionsLine(state.where)
    return [first, bothEnds(onOneLine(conditions === '' ? 'all changes' : conditions), countsText(state), width)]
  }
  const { change } = shown
  const verdict = onOneLine(change.verdict)
  const second = bothEnds(`${verdict}  ${sizeOf(change)}  ${change.change_set_id}`, countsText(state), width)
  const style = verdict === 'accepted' || verdict === 'rejected' ? verdictStyles[verdict] : verdictStyles.pending
  return [first, second.startsWith(verdict) ? paint(style, verdict) + second.slice(verdict.length) : second]
}

function scrollLine({ lines, room }: Body, first: number, width: number): string {
  if (lines.length <= room) return '─'.repeat(width)
  const last = Math.min(lines.length, first + room)
  const [range, more] = [`${first + 1}-${last} of ${lines.length}`, last < lines.length ? ', space shows more' : '']
  const texts = [`── lines ${range}${more} `, `── lines ${range} `, `── ${range} `]
  const text = clipTo(texts.find((line) => line.length <= width) ?? range, width)
  return `${text}${'─'.repeat(width - widthOf(text))}`
}

/** Returns the whole message, as long as a part of the change stays on the screen; one line when there is none. */
function messageLines(state: ReviewState, paint: Paint): string[] {
  const { mode, message } = state
  const { columns: width, rows } = sizeOfScreen(state)
  if (message === undefined) return [mode.kind === 'typing' ? typedLine(mode, width) : '']
  const lines = foldProse(message.text, width)
  const most = Math.max(1, rows - headRows - 1 - leastBody - keyLines(state).length)
  const shown = lines.slice(0, most)
  if (lines.length > most) shown[most - 1] = clipTo(`${shown[most - 1] ?? ''} ${'…'.repeat(width)}`, width)
  return shown.map((line) => paint(message.style, line))
}

/** Shows the end before the cursor when it is too long, and what is behind it where there is room. */
function typedLine({ what, text, after }: Extract<Mode, { kind: 'typing' }>, width: number): string {
  const question = what === 'reason' ? 'Why? ' : 'Show: '
  const before = `${question}${endOf(text, width - question.length - 1)}▏`
  return fold(`${before}${after}`, width)[0] ?? ''
}

/** Shows as many keys as there is room for, the most important first. */
function keyLines(state: ReviewState): string[] {
  const { columns: width, rows } = sizeOfScreen(state)
  const lines = ['']
  for (const text of keyTexts(state, { hasDependents: hasDependents(state.mode) })) {
    const line = lines.at(-1) ?? ''
    if (line === '') lines[lines.length - 1] = text
    else if (line.length + 3 + text.length <= width) lines[lines.length - 1] = `${line} · ${text}`
    else lines.push(text)
  }
  const most = Math.max(1, rows - headRows - 2 - leastBody)
  return lines.slice(0, most).map((line) => clipTo(line, width))
}
