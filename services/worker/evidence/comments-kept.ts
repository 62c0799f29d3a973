import { anchorsOf, isSameAnchor } from './comment-anchors.ts'
import { isPragma, pragmaFault, type MatchedComment } from './pragmas-kept.ts'
import type { ComparedFacts, Finding } from './python-facts.ts'
import { isLeading, type Comment } from './statements.ts'

/**
 * Every comment is still there, in the same order, at the same statement and in the same way (behind it, above it, inside
 * it, or at the end of its block), however that statement was edited. A comment that tools read (`# type: ignore`, `# noqa`)
 * is on the line of the same code, and none was added.
 */
export function commentsKept({ before, after, pairs }: ComparedFacts): Finding {
  const [was, now] = [before.list(), after.list()]
  const figures = { before: was.comments.length, after: now.comments.length }
  const texts = { was, now, pairs: pairs() }
  const [anchors, anchorsNow] = [anchorsOf(was), anchorsOf(now)]
  const matched: MatchedComment[] = []
  const taken = new Set<Comment>()
  let next = 0
  for (const [place, comment] of was.comments.entries()) {
    const anchor = anchors[place]
    const at = findFrom(next, now.comments, (other, candidate) => {
      const found = anchorsNow[candidate]
      if (anchor === undefined || found === undefined) return false
      return isSameText(other, comment) && isSameAnchor(anchor, found, texts)
    })
    const counterpart = now.comments[at]
    if (counterpart === undefined) return { ...figures, fault: lossOf(comment, now.comments) }
    matched.push({ before: comment, after: counterpart })
    taken.add(counterpart)
    next = at + 1
  }
  const added = now.comments.find((comment) => !taken.has(comment) && isPragma(comment))
  if (added !== undefined) return { ...figures, fault: `${named(added)} is new, and hides what a tool would report` }
  return { ...figures, fault: pragmaFault(matched, texts) }
}

function findFrom(start: number, comments: readonly Comment[], fits: (one: Comment, at: number) => boolean): number {
  for (let at = start; at < comments.length; at++) {
    const comment = comments[at]
    if (comment !== undefined && fits(comment, at)) return at
  }
  return -1
}

function isSameText(one: Comment, other: Comment): boolean {
  return one.text.trimEnd() === other.text.trimEnd()
}

function lossOf(comment: Comment, now: readonly Comment[]): string {
  const isThere = now.some((other) => isSameText(other, comment))
  if (!isThere) return `${named(comment)} is gone`
  return `${named(comment)} ${isLeading(comment) ? 'has left its line' : 'is not at its statement any more'}`
}

function named({ row, text }: Comment): string {
  return `line ${row + 1}: the comment ${JSON.stringify(text.trimEnd().slice(0, 60))}`
}
