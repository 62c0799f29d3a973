import type { Comment, StatementList } from './statements.ts'

/** What a comment belongs to. `statement` is the place of a statement among all of its text. */
export type Anchor =
  /** On a line with code of the statement before it. */
  | { kind: 'trailing'; statement: number }
  /** On a line of its own in the middle of a statement. */
  | { kind: 'inside'; statement: number }
  /** On a line of its own above a statement. */
  | { kind: 'above'; statement: number }
  /** At the end of a block or of the file, below the last statement of its depth. */
  | { kind: 'below'; statement: number }
  /** In a text without code. */
  | { kind: 'alone' }

export function anchorOf(comment: Comment, { statements }: StatementList): Anchor {
  const last = statements[comment.statement]
  const next = statements[comment.statement + 1]
  const token = last?.tokens[comment.token]
  if (last !== undefined && token !== undefined) {
    if (last.row + token.endRow === comment.row) return { kind: 'trailing', statement: comment.statement }
    if (comment.token < last.tokens.length - 1) return { kind: 'inside', statement: comment.statement }
  }
  if (next !== undefined && comment.column <= next.column) return { kind: 'above', statement: comment.statement + 1 }
  let above = comment.statement
  while ((statements[above]?.column ?? 0) > comment.column) above = statements[above]?.owner ?? -1
  return above < 0 ? { kind: 'alone' } : { kind: 'below', statement: above }
}

/** Whether the statement that `before` belongs to has become the one that `after` belongs to. */
export function isSameAnchor(before: Anchor, after: Anchor, forward: Int32Array): boolean {
  if (before.kind === 'alone' || after.kind === 'alone') return before.kind === after.kind
  return before.kind === after.kind && forward[before.statement] === after.statement
}
