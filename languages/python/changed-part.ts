import type { Node, Range, Tree } from 'web-tree-sitter'
import type { LoadedLanguage } from '#languages/syntax/parser.ts'
import { bisect, changedSpan, type ChangedSpan, rowsIn } from '#platform/changed-ranges.ts'
import { codeIn, docstringOf, isTrivia } from './python-nodes.ts'

/**
 * Holds the statements in which a text differs from another, with their places in the whole text. `body` is the node that has them: the
 * module, or the body of a class, of which the tree has the head as well.
 */
export type ChangedPart = { tree: Tree; body: Node }

/** Reads the part in which `after`, made of `before`, differs from it. Undefined where only the whole text tells what `look` finds. */
export function readChangedPart<Found>(
  python: PartReader,
  [before, after]: readonly [string, string],
  look: (part: ChangedPart) => Found,
): Found | undefined {
  return firstOf(placesOf(python, before, after), (place) =>
    readPart(python, after, { ...place, lines: place.after }, look),
  )
}

/** Reads that part of both texts. */
export function readChangedParts<Found>(
  python: PartReader,
  [before, after]: readonly [string, string],
  look: (was: ChangedPart, now: ChangedPart) => Found,
): Found | undefined {
  return firstOf(placesOf(python, before, after), (place) =>
    readPart(python, before, { ...place, lines: place.before }, (was) =>
      readPart(python, after, { ...place, lines: place.after }, (now) => look(was, now)),
    ),
  )
}

type PartReader = Pick<LoadedLanguage, 'parse' | 'read'>

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

type Place = {
  before: readonly Stretch[]
  after: readonly Stretch[]
  isInClass: boolean
  /** The part begins where its module or class does: its first statement may be a docstring. */
  isFirst: boolean
}

/** A stretch of whole lines. */
type Stretch = { start: Line; end: Line }
type Line = { index: number; row: number }

/** Lists where the change may be read, the narrowest first; nothing of a text that does not parse. */
function placesOf(python: PartReader, before: string, after: string): Place[] {
  const span = changedSpan(before, after)
  const parts = python.read(before, ({ rootNode }) => {
    const inModule = rootNode.hasError ? undefined : partOf(rootNode, before, span)
    if (inModule === undefined) return []
    const [only, ...others] = inModule.statements
    const inClass = only && others.length === 0 ? partOfClass(only, before, span, inModule.end) : undefined
    return inClass === undefined ? [inModule] : [inClass, inModule]
  })
  const moved = {
    index: span.afterEnd - span.beforeEnd,
    row: rowsIn(after.slice(span.start, span.afterEnd)) - rowsIn(before.slice(span.start, span.beforeEnd)),
  }
  return parts.flatMap(({ head, start, end: last, isFirst }) => {
    const end = { index: last.index + moved.index, row: last.row + moved.row }
    // What a backslash joins to the next line is not over.
    if (/\\\r?\n$/.test(after.slice(Math.max(0, end.index - 3), end.index))) return []
    const stretches = (until: Line) => joined(head, { start, end: until })
    return { before: stretches(last), after: stretches(end), isInClass: head !== undefined, isFirst }
  })
}

function joined(head: Stretch | undefined, stretch: Stretch): Stretch[] {
  if (head === undefined) return [stretch]
  return head.end.index === stretch.start.index ? [{ start: head.start, end: stretch.end }] : [head, stretch]
}

type PlacedText = Pick<Place, 'isInClass' | 'isFirst'> & { lines: readonly Stretch[] }

function readPart<Found>(
  python: PartReader,
  text: string,
  { lines, isInClass, isFirst }: PlacedText,
  look: (part: ChangedPart) => Found,
): Found | undefined {
  const tree = python.parse(text, lines.map(rangeOf))
  try {
    const body = tree.rootNode.hasError ? undefined : isInClass ? bodyOfClass(tree.rootNode) : tree.rootNode
    return body && isTold(body, isFirst) ? look({ tree, body }) : undefined
  } finally {
    tree.delete()
  }
}

function rangeOf({ start, end }: Stretch): Range {
  return {
    startIndex: start.index,
    endIndex: end.index,
    startPosition: { row: start.row, column: 0 },
    endPosition: { row: end.row, column: 0 },
  }
}

/** Tells whether its statements mean the same in the whole body: the first string there is a docstring, and a `pass` may be all that it has. */
function isTold(body: Node, isFirst: boolean): boolean {
  const statements = codeIn(body)
  const mayBeAlone = statements.length < leastStatements && statements.some(isFiller)
  return !mayBeAlone && (isFirst || docstringOf(statements[0]) === undefined)
}

/** Enough that none of them is alone in the body with a docstring. */
const leastStatements = 3

function isFiller(statement: Node): boolean {
  if (statement.type === 'pass_statement') return true
  return statement.type === 'expression_statement' && statement.namedChildren[0]?.type === 'ellipsis'
}

function bodyOfClass(root: Node): Node | undefined {
  const [only, ...others] = root.namedChildren
  return only === undefined || others.length > 0 ? undefined : classBody(only)
}

function classBody(statement: Node): Node | undefined {
  const definition = statement.type === 'decorated_definition' ? statement.childForFieldName('definition') : statement
  return definition?.type === 'class_definition' ? (definition.childForFieldName('body') ?? undefined) : undefined
}

type Part = {
  head?: Stretch
  start: Line
  end: Line
  statements: readonly Node[]
  isFirst: boolean
}

function partOfClass(statement: Node, text: string, span: ChangedSpan, end: Line | undefined): Part | undefined {
  const body = classBody(statement)
  const first = codeIn(body)[0]
  const start = first && lineOf(first, text)
  if (body === undefined || start === undefined || span.start < start.index) return undefined
  const part = partOf(body, text, span, { start, end })
  return (
    part && { ...part, head: { start: { index: statement.startIndex, row: statement.startPosition.row }, end: start } }
  )
}

/** Finds the statements from the last that begins before the change, with the comments above it, up to the first on a line behind it. */
function partOf(
  body: Node,
  text: string,
  { start: from, beforeEnd: to }: ChangedSpan,
  whole?: { start: Line; end: Line | undefined },
): Part | undefined {
  const children = body.namedChildren
  const statements = children.filter((child) => !isTrivia(child))
  const isOnLine = (at: number) => lineOf(statements[at], text) !== undefined
  let first = bisect(statements.length, (at) => (statements[at]?.startIndex ?? 0) < from) - 1
  while (first > 0 && !isOnLine(first)) first--
  const isFirst = first <= 0
  let next = bisect(statements.length, (at) => (statements[at]?.startIndex ?? 0) <= to)
  const goOn = (isEnough: (at: number) => boolean) => {
    while (next < statements.length && !isEnough(next)) next++
  }
  goOn((at) => (lineOf(statements[at], text)?.index ?? 0) > to)
  // A string behind what was the first statement may be a docstring now; a comment may be above what follows it.
  const isBehindLast = (statements[next - 1]?.endIndex ?? 0) <= to
  if (isFirst || isBehindLast) {
    next++
    goOn(isOnLine)
  }
  const remaining = [...statements.slice(0, Math.max(0, first)), ...statements.slice(next)]
  if (remaining.length < leastStatements && remaining.some(isFiller)) return undefined
  const start = isFirst ? (whole?.start ?? { index: 0, row: 0 }) : lineAbove(children, statements[first], text)
  const end = lineOf(statements[next], text) ?? whole?.end ?? { index: text.length, row: rowsIn(text) + 1 }
  if (start === undefined || end === undefined) return undefined
  return { start, end, isFirst, statements: statements.slice(Math.max(0, first), next) }
}

/** The line of the first of the comments between a statement and the one above it. */
function lineAbove(children: readonly Node[], statement: Node | undefined, text: string): Line | undefined {
  if (statement === undefined) return undefined
  let line = lineOf(statement, text)
  for (let at = bisect(children.length, (one) => (children[one]?.startIndex ?? 0) < statement.startIndex) - 1; ; at--) {
    const above = children[at]
    const next = above && isTrivia(above) ? lineOf(above, text) : undefined
    if (next === undefined) return line
    line = next
  }
}

/** The line that a statement begins; undefined where something stands before it. */
function lineOf(statement: Node | undefined, text: string): Line | undefined {
  if (statement === undefined) return undefined
  const { startIndex, startPosition } = statement
  const index = startIndex - startPosition.column
  return text.slice(index, startIndex).trim() === '' ? { index, row: startPosition.row } : undefined
}
