import { diffArrays } from 'diff'
import type { ComparedStatements, CheckResult, StatementPairs } from './python-facts.ts'
import { type Comment, isLeading, type Statement, type StatementList } from './statements.ts'

/** Finds comments gone or at another statement or position, however that was edited; pragmas on the line of other code, and new ones. */
export function commentsKept({ before, after, pairs }: ComparedStatements, pragma = pythonPragma): CheckResult {
  const [was, now] = [before.list(), after.list()]
  const figures = { before: was.comments.length, after: now.comments.length }
  const texts = { was, now, pairs: pairs() }
  const [anchors, anchorsNow] = [anchorsOf(was), anchorsOf(now)]
  const matched: MatchedComment[] = []
  const taken = new Set<Comment>()
  let next = 0
  for (const [place, comment] of was.comments.entries()) {
    let counterpart = now.comments[next]
    while (counterpart !== undefined) {
      if (isSameText(counterpart, comment) && isSameAnchor(anchors[place], anchorsNow[next], texts)) break
      counterpart = now.comments[++next]
    }
    if (counterpart === undefined) return { ...figures, fault: lossOf(comment, now.comments) }
    matched.push({ before: comment, after: counterpart })
    taken.add(counterpart)
    next++
  }
  const added = now.comments.find((comment) => !taken.has(comment) && pragma.test(comment.text))
  if (added !== undefined) return { ...figures, fault: `${named(added)} is new, and hides what a tool would report` }
  return { ...figures, fault: pragmaFault(matched, { ...texts, pragma }) }
}

function isSameText(left: Comment, right: Comment): boolean {
  return left.text.trimEnd() === right.text.trimEnd()
}

function lossOf(comment: Comment, now: readonly Comment[]): string {
  const isThere = now.some((other) => isSameText(other, comment))
  if (!isThere) return `${named(comment)} is gone`
  return `${named(comment)} ${isLeading(comment) ? 'has left its line' : 'is not at its statement any more'}`
}

function named({ row, text }: Comment): string {
  return `line ${row + 1}: the comment ${JSON.stringify(text.trimEnd().slice(0, 60))}`
}

/** Says what a comment belongs to. `statement` is the index of a statement in the text, -1 for none. */
type Anchor =
  | { kind: 'trailing'; statement: number }
  | { kind: 'inside'; statement: number }
  | { kind: 'above'; statement: number }
  /** The comment is at the end of a block or of the file, below the last statement of its depth. */
  | { kind: 'below'; statement: number }
  /** Is apart from the next statement, or one of the file's first two lines; `statement` is the one before it, `head` the one around. */
  | { kind: 'apart'; statement: number; head: number }

function anchorsOf(list: StatementList): Anchor[] {
  const anchors: Anchor[] = []
  let below: { row: number; isBlankNext: boolean } | undefined
  for (const comment of list.comments.toReversed()) {
    const next = list.statements[comment.statement + 1]
    const endRow = comment.row + (comment.text.match(/\n/g)?.length ?? 0)
    const isOfBlock = below?.row === endRow + 1
    const isBlankNext = isOfBlock ? below?.isBlankNext === true : next !== undefined && next.row > endRow + 1
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

function isSameAnchor(before: Anchor | undefined, after: Anchor | undefined, texts: Texts): boolean {
  if (before === undefined || after === undefined) return false
  const { forward } = texts.pairs
  if (before.kind === 'apart') return after.kind === 'apart' && isSameGap(before, after, forward)
  if (before.kind !== after.kind) return false
  if (before.statement < 0) return after.statement < 0
  const counterpart = forward[before.statement] ?? -1
  if (counterpart === after.statement) return true
  return before.kind === 'above' && isSplit(before.statement, { first: after.statement, last: counterpart }, texts)
}

type Apart = Extract<Anchor, { kind: 'apart' }>

/** Tells whether they are in the same body and between the same statements, of those that remain. */
function isSameGap(before: Apart, after: Apart, forward: Int32Array): boolean {
  const head = before.head < 0 ? -1 : forward[before.head]
  if (head !== after.head) return false
  const above = forward.slice(0, before.statement + 1).findLast((counterpart) => counterpart >= 0) ?? -1
  const below = forward.slice(before.statement + 1).find((counterpart) => counterpart >= 0) ?? Infinity
  return above <= after.statement && after.statement < below
}

/** Tells whether statements before the counterpart hold only code of the one: `import a, b` may become two, below the same comment. */
function isSplit(statement: number, { first, last }: { first: number; last: number }, { was, now, pairs }: Texts) {
  if (first < 0 || first > last) return false
  const code = new Set(was.statements[statement]?.tokens.map(({ text }) => text))
  const parts = now.statements.slice(first, last)
  return parts.every(({ tokens }, at) => pairs.back[first + at] === -1 && tokens.every(({ text }) => code.has(text)))
}

type MatchedComment = { before: Comment; after: Comment }

type TokenPlaces = (before: Statement, after: Statement) => Int32Array

const pythonPragma =
  /#\s*(?:type:|noqa\b|pragma:|pylint:|fmt:|yapf:|isort:|nosec\b|nosemgrep|mypy:|pyright:|pyre-|pytype:|ruff:|flake8:|noinspection\b|NOSONAR|lint:|cython:|doctest:|spell-?checker:|codespell:)/i

/** Finds the first pragma that is not on the line of the same code any more; brackets, commas and colons do not count. */
function pragmaFault(
  matched: readonly MatchedComment[],
  { pragma, ...texts }: Texts & { pragma: RegExp },
): string | undefined {
  const places = openTokenPlaces()
  for (const { before, after } of matched) {
    if (isLeading(before) && after.row !== before.row) return `${named(before)} has left its line`
    if (pragma.test(before.text) && hasOtherCode(before, after, { ...texts, places }))
      return `${named(before)} is not on the line of the same code`
  }
  return undefined
}

/** Tells whether the line of `before` and that of `after` have different code, apart from new code. */
function hasOtherCode(before: Comment, after: Comment, { was, now, pairs, places }: Texts & { places: TokenPlaces }) {
  const there = codeOnLine(before, was)
  const here = codeOnLine(after, now)
  if (there.length === 0 && here.length === 0) return false
  const hereKeys = new Set(here.map(keyOf))
  const expected = there.flatMap(
    (code) => counterpartOf(code, { from: was, to: now, map: pairs.forward, places }) ?? [],
  )
  if (expected.length === 0 || expected.some((code) => !hereKeys.has(keyOf(code)))) return true
  const thereKeys = new Set(there.map(keyOf))
  const origins = here.flatMap((code) => counterpartOf(code, { from: now, to: was, map: pairs.back, places }) ?? [])
  return origins.some((code) => !thereKeys.has(keyOf(code)))
}

type Code = { statement: number; token: number }

function keyOf({ statement, token }: Code): string {
  return `${statement}:${token}`
}

const punctuation = /^[()[\]{},:;]$/

function codeOnLine(comment: Comment, { statements }: StatementList): Code[] {
  const codes: Code[] = []
  for (let at = comment.statement; at >= 0; at--) {
    const { row, tokens } = statements[at] ?? { row: 0, tokens: [] }
    const last = at === comment.statement ? comment.token : tokens.length - 1
    for (let token = last; token >= 0; token--) {
      const code = tokens[token]
      if (code === undefined || row + code.endRow < comment.row) return codes
      if (!punctuation.test(code.text)) codes.push({ statement: at, token })
    }
  }
  return codes
}

type Mapping = { from: StatementList; to: StatementList; map: Int32Array; places: TokenPlaces }

function counterpartOf({ statement, token }: Code, { from, to, map, places }: Mapping): Code | undefined {
  const paired = map[statement] ?? -1
  const [one, other] = [from.statements[statement], to.statements[paired]]
  if (one === undefined || other === undefined) return undefined
  const index = one.key === other.key ? token : (places(one, other)[token] ?? -1)
  return index < 0 ? undefined : { statement: paired, token: index }
}

/** Limits the comparison: with more edits no token is matched, and a comment on the line of such a token counts as moved. */
const maxEditLength = 1000

function openTokenPlaces(): TokenPlaces {
  const known = new Map<Statement, Int32Array>()
  return (before, after) => {
    const places = known.get(before) ?? tokenPlaces(before, after)
    known.set(before, places)
    return places
  }
}

function tokenPlaces(one: Statement, other: Statement): Int32Array {
  const textsOf = ({ tokens }: Statement) => tokens.map(({ text }) => text)
  const places = new Int32Array(one.tokens.length).fill(-1)
  let [before, after] = [0, 0]
  for (const { added, removed, value } of diffArrays(textsOf(one), textsOf(other), { maxEditLength }) ?? []) {
    if (!added && !removed) for (const at of value.keys()) places[before + at] = after + at
    if (!added) before += value.length
    if (!removed) after += value.length
  }
  return places
}
