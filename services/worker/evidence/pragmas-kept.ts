import { diffArrays } from 'diff'
import type { StatementPairs } from './statement-pairs.ts'
import { isLeading, type Comment, type Statement, type StatementList } from './statements.ts'

export type MatchedComment = { before: Comment; after: Comment }

type Lists = { was: StatementList; now: StatementList; pairs: StatementPairs }

/** The places that the tokens of a statement have in its counterpart; -1 for one that is gone. */
type TokenPlaces = (one: Statement, other: Statement) => Int32Array

/** What linters, type checkers, formatters, coverage and security tools read in a comment. */
const pragma =
  /#\s*(?:type:|noqa\b|pragma:|pylint:|fmt:|yapf:|isort:|nosec\b|nosemgrep|mypy:|pyright:|pyre-|pytype:|ruff:|flake8:|noinspection\b|NOSONAR|lint:|cython:|doctest:|spell-?checker:|codespell:)/i

export function isPragma({ text }: Comment): boolean {
  return pragma.test(text)
}

/**
 * The first pragma that is not on the line of the code it was on: some of it went to another line, or other code came onto
 * the pragma's. Brackets, commas and colons do not count. What the system reads in the first two lines stays there.
 */
export function pragmaFault(matched: readonly MatchedComment[], lists: Lists): string | undefined {
  const places = openTokenPlaces()
  for (const { before, after } of matched) {
    const name = `line ${before.row + 1}: the comment ${JSON.stringify(before.text.trimEnd().slice(0, 60))}`
    if (isLeading(before) && after.row !== before.row) return `${name} has left its line`
    if (isPragma(before) && hasOtherCode(before, after, { ...lists, places }))
      return `${name} is not on the line of the same code`
  }
  return undefined
}

/** Whether the code on the line of `before` and that on the line of `after` are not the same, new code aside. */
function hasOtherCode(
  before: Comment,
  after: Comment,
  { was, now, pairs, places }: Lists & { places: TokenPlaces },
): boolean {
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

/** A token, by the places of its statement and of itself in that. */
type Code = { statement: number; token: number }

function keyOf({ statement, token }: Code): string {
  return `${statement}:${token}`
}

const punctuation = /^[()[\]{},:;]$/

/** The tokens that lie on the comment's line; all of them stand before it. */
function codeOnLine(comment: Comment, { statements }: StatementList): Code[] {
  const found: Code[] = []
  for (let at = comment.statement; at >= 0; at--) {
    const { row, tokens } = statements[at] ?? { row: 0, tokens: [] }
    const last = at === comment.statement ? comment.token : tokens.length - 1
    for (let token = last; token >= 0; token--) {
      const one = tokens[token]
      if (one === undefined || row + one.endRow < comment.row) return found
      if (!punctuation.test(one.text)) found.push({ statement: at, token })
    }
  }
  return found
}

type Mapping = { from: StatementList; to: StatementList; map: Int32Array; places: TokenPlaces }

function counterpartOf({ statement, token }: Code, { from, to, map, places }: Mapping): Code | undefined {
  const paired = map[statement] ?? -1
  const [one, other] = [from.statements[statement], to.statements[paired]]
  if (one === undefined || other === undefined) return undefined
  const place = one.key === other.key ? token : (places(one, other)[token] ?? -1)
  return place < 0 ? undefined : { statement: paired, token: place }
}

/** Beyond it no token is known again, and a comment on the line of an unknown one counts as moved. */
const maxEditLength = 1000

/** Each statement is compared with its counterpart once. */
function openTokenPlaces(): TokenPlaces {
  const known = new Map<Statement, Int32Array>()
  return (one, other) => {
    const places = known.get(one) ?? tokenPlaces(one, other)
    known.set(one, places)
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
