import type { Node, Tree, TreeCursor } from 'web-tree-sitter'
import { isDirective } from '#doc-comments/comment-text.ts'
import { sha256 } from '#domain/ids.ts'

/** A comment with its place among the tokens of the code. */
export type PlacedComment = {
  text: string
  /** From 1. */
  line: number
  endLine: number
  /** How many tokens of the code stand before it. */
  token: number
  /** It begins on a line with code before it. */
  isTrailing: boolean
  /** The lines from its end to the next code: a directive is about the code on a certain line. */
  linesToCode: number
}

export type CodeAndComments = {
  /** A hash of the syntax tree without comments: its tokens, what encloses them, and which of them begin a line. */
  code: string
  comments: PlacedComment[]
}

/** Nodes whose text is all code, blanks and what looks like a comment in them, too. */
const wholeText =
  /string|heredoc|regex|_text$|^text$|^char_|(?:char|character|rune|template)_literal$|preproc_arg|_scalar$/
const commentType = /(?:^|_)comment$/

/** Without recursion: a source may be nested deeper than the stack allows. */
export function codeAndComments(tree: Tree, source: string): CodeAndComments {
  const parts: string[] = []
  const comments: PlacedComment[] = []
  let tokens = 0
  let endIndex = 0
  let endRow = -1
  const addGap = (until: number) => {
    // What a grammar has no node for.
    const text = source.slice(endIndex, until).trim()
    if (text !== '') parts.push(`?${text}`)
  }
  walk(tree.rootNode, {
    comment(node) {
      addGap(node.startIndex)
      const [line, isTrailing] = [node.startPosition.row + 1, node.startPosition.row === endRow]
      const text = node.text.trimEnd()
      const endLine = line + (text.match(/\n/g) ?? []).length
      comments.push({ text, line, endLine, token: tokens, isTrailing, linesToCode: Infinity })
      endIndex = Math.max(endIndex, node.startIndex + text.length)
    },
    token(node, text) {
      addGap(node.startIndex)
      endIndex = Math.max(endIndex, node.endIndex)
      // Grammars in which a line's end is a token have one of their own for it.
      if (text.trim() === '' && !node.isNamed) return
      const { row } = node.startPosition
      if (tokens > 0 && row > endRow) parts.push('\n')
      parts.push(`${node.type}\0${text}`)
      for (let at = comments.length - 1; comments[at]?.token === tokens; at--) {
        const comment = comments[at]
        if (comment !== undefined) comment.linesToCode = row + 1 - comment.endLine
      }
      tokens += 1
      endRow =
        node.endPosition.column === 0 && node.endPosition.row > row ? node.endPosition.row - 1 : node.endPosition.row
    },
    open: (type) => parts.push(`(${type}`),
    close: () => parts.push(')'),
  })
  addGap(source.length)
  return { code: sha256(parts.join('\x01')), comments }
}

type Visit = {
  comment(node: Node): void
  /** A node without children, or one whose text is all code. */
  token(node: Node, text: string): void
  open(type: string): void
  close(): void
}

function walk(root: Node, visit: Visit): void {
  const cursor: TreeCursor = root.walk()
  try {
    for (let depth = 0; ;) {
      const { nodeType: type, nodeIsNamed: isNamed } = cursor
      const isComment = commentType.test(type)
      const isWhole = isComment || (isNamed && depth > 0 && wholeText.test(type))
      if (!isWhole && cursor.gotoFirstChild()) {
        visit.open(type)
        depth++
        continue
      }
      const node = cursor.currentNode
      if (isComment) visit.comment(node)
      else visit.token(node, node.text)
      while (!cursor.gotoNextSibling()) {
        if (!cursor.gotoParent()) return
        visit.close()
        depth--
      }
    }
  } finally {
    cursor.delete()
  }
}

/** What of the comments is not as it was, in words; undefined where only others were added, none of them a directive. */
export function commentFault(
  was: readonly PlacedComment[],
  now: readonly PlacedComment[],
  isSameCode: boolean,
): string | undefined {
  const taken = new Set<PlacedComment>()
  let next = 0
  for (const comment of was) {
    const isCounterpart = (other: PlacedComment) =>
      other.text === comment.text &&
      (!isSameCode || (other.token === comment.token && other.isTrailing === comment.isTrailing))
    const at = now.findIndex((other, place) => place >= next && isCounterpart(other))
    const found = now[at]
    if (found === undefined) {
      const isThere = now.some(({ text }) => text === comment.text)
      return `${named(comment)} is ${isThere ? 'not at its code any more' : 'gone'}`
    }
    if (isSameCode && isDirective(comment.text) && found.linesToCode !== comment.linesToCode)
      return `${named(comment)} is not on the line of the same code`
    taken.add(found)
    next = at + 1
  }
  const added = isSameCode ? now.find((one) => !taken.has(one) && isDirective(one.text)) : undefined
  return added && `${named(added)} is new, and a tool obeys it`
}

function named({ line, text }: PlacedComment): string {
  return `line ${line}: the comment ${JSON.stringify(text.slice(0, 60))}`
}
