import type { Node, Tree, TreeCursor } from 'web-tree-sitter'
import { isDirective } from '#languages/comments/comment-text.ts'
import { trapIn } from '#languages/comments/comment-traps.ts'
import { sha256 } from '#domain/ids.ts'

/** A comment with its place among the tokens of the code. */
export type PlacedComment = {
  text: string
  line: number
  endLine: number
  token: number
  isTrailing: boolean
  /** The lines from its end to the next code: a directive is about the code on a certain line. */
  linesToCode: number
  next: string
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

/** Walks the tree without recursion: a source may be nested deeper than the stack allows. */
export function codeAndComments(tree: Tree, source: string): CodeAndComments {
  const parts: string[] = []
  const comments: PlacedComment[] = []
  let tokens = 0
  let endIndex = 0
  let endRow = -1
  const rowOf = openRows(source)
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
      comments.push({ text, line, endLine, token: tokens, isTrailing, linesToCode: Infinity, next: '' })
      endIndex = Math.max(endIndex, node.startIndex + text.length)
    },
    token({ type, isNamed, start, end }) {
      addGap(start)
      endIndex = Math.max(endIndex, end)
      const text = source.slice(start, end)
      // Grammars in which a line's end is a token have one of their own for it.
      if (text.trim() === '' && !isNamed) return
      const row = rowOf(start)
      if (tokens > 0 && row > endRow) parts.push('\n')
      parts.push(`${type}\0${text}`)
      for (let at = comments.length - 1; comments[at]?.token === tokens; at--) {
        const comment = comments[at]
        if (comment === undefined) continue
        comment.linesToCode = row + 1 - comment.endLine
        comment.next = source.slice(start, start + 40)
      }
      tokens += 1
      endRow = rowOf(end > start && source[end - 1] === '\n' ? end - 1 : end)
    },
    open: (type) => parts.push(`(${type}`),
    close: () => parts.push(')'),
  })
  addGap(source.length)
  return { code: sha256(parts.join('\x01')), comments }
}

/** Returns a function that tells the row of an index: quickly, where it is near the one that was asked for before. */
function openRows(source: string): (index: number) => number {
  const ends = Array.from(source.matchAll(/\n/g), ({ index }) => index)
  let row = 0
  return (index) => {
    while ((ends[row] ?? Infinity) < index) row += 1
    while (row > 0 && (ends[row - 1] ?? 0) >= index) row -= 1
    return row
  }
}

type CodeToken = { type: string; isNamed: boolean; start: number; end: number }

type Visit = {
  comment(node: Node): void
  token(token: CodeToken): void
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
      if (isComment) visit.comment(cursor.currentNode)
      else visit.token({ type, isNamed, start: cursor.startIndex, end: cursor.endIndex })
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

/** Says what of the comments is not as it was; undefined where only others were added that no tool or compiler obeys. */
export function commentFault(
  was: readonly PlacedComment[],
  now: readonly PlacedComment[],
  { isSameCode, language }: { isSameCode: boolean; language: string },
): string | undefined {
  const taken = new Set<PlacedComment>()
  let next = 0
  for (const comment of was) {
    const isCounterpart = (other: PlacedComment) =>
      other.text === comment.text &&
      (!isSameCode || (other.token === comment.token && other.isTrailing === comment.isTrailing))
    let counterpart = now[next]
    while (counterpart !== undefined && !isCounterpart(counterpart)) counterpart = now[++next]
    if (counterpart === undefined) {
      const isThere = now.some(({ text }) => text === comment.text)
      return `${named(comment)} is ${isThere ? 'not at its code any more' : 'gone'}`
    }
    if (isSameCode && isDirective(comment.text) && counterpart.linesToCode !== comment.linesToCode)
      return `${named(comment)} is not on the line of the same code`
    const isMoved = !isPreamble(comment, language) || counterpart.linesToCode !== comment.linesToCode
    if (isPreamble(counterpart, language) && isMoved)
      return `${named(comment)} is at import "C" now: cgo compiles it as C`
    taken.add(counterpart)
    next++
  }
  const added = now.filter((comment) => !taken.has(comment))
  const obeyed = isSameCode ? added.find(({ text }) => isDirective(text)) : undefined
  return obeyed === undefined ? trapFault(added, language) : `${named(obeyed)} is new, and a tool obeys it`
}

/** Comments of one line each that follow each other are read as one, as documentation is. */
function trapFault(added: readonly PlacedComment[], language: string): string | undefined {
  const joined: PlacedComment[] = []
  for (const comment of added) {
    const last = joined.at(-1)
    const isNext = last?.token === comment.token && last.endLine + 1 === comment.line && !comment.isTrailing
    if (last !== undefined && isNext && !comment.text.startsWith('/*'))
      joined[joined.length - 1] = { ...last, text: `${last.text}\n${comment.text}`, endLine: comment.endLine }
    else joined.push(comment)
  }
  const preamble = added.find((comment) => isPreamble(comment, language))
  if (preamble !== undefined) return `${named(preamble)} is new, and cgo compiles what stands above import "C" as C`
  for (const comment of joined) {
    const trap = trapIn(comment.text, language)
    if (trap !== undefined) return `${named(comment)} is new, and ${trap}`
  }
  return undefined
}

/** Tells whether nothing but comments stands between it and Go's `import "C"`: only an empty line may keep it from being a part of the program. */
function isPreamble({ next }: PlacedComment, language: string): boolean {
  return language === 'go' && /^(?:import\s*\(?\s*)?["`]C["`]/.test(next)
}

function named({ line, text }: PlacedComment): string {
  return `line ${line}: the comment ${JSON.stringify(text.slice(0, 60))}`
}
