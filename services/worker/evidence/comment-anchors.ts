import type { StatementPairs } from './statement-pairs.ts'
import { isLeading, type Comment, type StatementList } from './statements.ts'

/** What a comment belongs to. `statement` is the place of a statement among all of its text, -1 for none. */
export type Anchor =
  /** On a line with code of the statement before it. */
  | { kind: 'trailing'; statement: number }
  /** On a line of its own in the middle of a statement. */
  | { kind: 'inside'; statement: number }
  /** On a line of its own above a statement. */
  | { kind: 'above'; statement: number }
  /** At the end of a block or of the file, below the last statement of its depth. */
  | { kind: 'below'; statement: number }
  /**
   * Blank lines part it from the next statement, or it is one of the first two lines that belong to the file; `statement` is
   * the one before it, `head` the one whose body it stands in.
   */
  | { kind: 'apart'; statement: number; head: number }

/** The anchors of a text's comments, in their order. */
export function anchorsOf(list: StatementList): Anchor[] {
  const anchors: Anchor[] = []
  let below: { row: number; isBlankNext: boolean } | undefined
  for (const comment of list.comments.toReversed()) {
    const next = list.statements[comment.statement + 1]
    const isOfBlock = below?.row === comment.row + 1
    const isBlankNext = isOfBlock ? below?.isBlankNext === true : next !== undefined && next.row > comment.row + 1
    below = { row: comment.row, isBlankNext }
    anchors.push(anchorOf(comment, list, isBlankNext))
  }
  return anchors.toReversed()
}

function anchorOf(comment: Comment, { statements }: StatementList, isBlankNext: boolean): Anchor {
  if (isLeading(comment)) return { kind: 'apart', statement: -1, head: -1 }
  const { statement } = comment
  const last = statements[statement]
  const next = statements[statement + 1]
  const token = last?.tokens[comment.token]
  if (last !== undefined && token !== undefined) {
    if (last.row + token.endRow === comment.row) return { kind: 'trailing', statement }
    if (comment.token < last.tokens.length - 1) return { kind: 'inside', statement }
  }
  const climb = (isDeeper: (column: number) => boolean) => {
    let at = statement
    while (at >= 0 && isDeeper(statements[at]?.column ?? 0)) at = statements[at]?.owner ?? -1
    return at
  }
  if (next === undefined || comment.column > next.column) {
    return { kind: 'below', statement: climb((column) => column > comment.column) }
  }
  if (!isBlankNext) return { kind: 'above', statement: statement + 1 }
  return { kind: 'apart', statement, head: climb((column) => column >= comment.column) }
}

type Texts = { was: StatementList; now: StatementList; pairs: StatementPairs }

/** Whether a comment with the anchor `after` stands where the one with the anchor `before` has to. */
export function isSameAnchor(before: Anchor, after: Anchor, texts: Texts): boolean {
  const { forward } = texts.pairs
  if (before.kind === 'apart') return after.kind === 'apart' && isSameGap(before, after, forward)
  if (before.kind !== after.kind) return false
  if (before.statement < 0) return after.statement < 0
  const counterpart = forward[before.statement] ?? -1
  if (counterpart === after.statement) return true
  return before.kind === 'above' && isSplit(before.statement, { first: after.statement, last: counterpart }, texts)
}

type Apart = Extract<Anchor, { kind: 'apart' }>

/** Between the same statements, of those that are left, in the same body. */
function isSameGap(before: Apart, after: Apart, forward: Int32Array): boolean {
  const head = before.head < 0 ? -1 : forward[before.head]
  if (head !== after.head) return false
  const above = forward.slice(0, before.statement + 1).findLast((counterpart) => counterpart >= 0) ?? -1
  const below = forward.slice(before.statement + 1).find((counterpart) => counterpart >= 0) ?? Infinity
  return above <= after.statement && after.statement < below
}

/**
 * Whether all from `first` up to `last`, the statement's counterpart, is code of the statement alone: `import a, b` may become
 * two, and the comment above it stays above the first.
 */
function isSplit(
  statement: number,
  { first, last }: { first: number; last: number },
  { was, now, pairs }: Texts,
): boolean {
  if (first < 0 || first > last) return false
  const code = new Set(was.statements[statement]?.tokens.map(({ text }) => text))
  const parts = now.statements.slice(first, last)
  return parts.every(({ tokens }, at) => pairs.back[first + at] === -1 && tokens.every(({ text }) => code.has(text)))
}
