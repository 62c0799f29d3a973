import { LRUCache } from 'lru-cache'
import type { TextCheck } from '#domain/checks.ts'
import type { TextStyle } from '#domain/path-rules.ts'
import { docLanguageOf } from '#languages/comments/doc-language.ts'
import { fileDocs } from '#languages/comments/file-docs.ts'
import { addedCharacter } from '#languages/syntax/hidden-characters.ts'
import type { LoadedLanguage } from '#languages/syntax/parser.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { changedRuns, linesOf } from '#platform/changed-ranges.ts'
import { codeAndComments, commentFault, type PlacedComment } from './code-and-comments.ts'
import { lineLengthKept } from './line-length.ts'
import { type DocumentedDefinition, documentedAs } from './parameters-documented.ts'
import { hasNewFault, type SyntaxFaults, syntaxFaultsOf } from './parses.ts'
import type { CheckResult } from './python-facts.ts'

/** A change of a text. Plain data: it is sent to the thread that parses. Without `limits` no length of lines is checked. */
export type ChangedText = { language: string; before: string | undefined; after: string; limits: TextStyle | undefined }

/** What the syntax of both texts says of a change. `byCheck`: of each check that it decides, whatever else is changed. */
export type SyntaxVerdicts = {
  isOnlyComments: boolean
  byCheck: Readonly<Record<JudgedCheck, CheckResult>>
  lineLength: CheckResult | undefined
}
type JudgedCheck = 'parses' | 'comments_kept' | 'docstring_only' | 'parameters_documented' | 'says_something'

/** Returns undefined for what the syntax alone does not prove of such a change. */
export function verdictOf(
  check: TextCheck,
  { isOnlyComments, byCheck, lineLength }: SyntaxVerdicts,
): CheckResult | undefined {
  if (isJudged(check, byCheck)) return byCheck[check]
  if (!isOnlyComments) return undefined
  if (check === 'line_length') return lineLength
  return { fault: undefined, says: 'the code is the same: only comments change' }
}

function isJudged(check: string, byCheck: SyntaxVerdicts['byCheck']): check is JudgedCheck {
  return Object.hasOwn(byCheck, check)
}

type TextFacts = ReturnType<typeof readFacts>

/** In characters of text; facts take about as much memory. */
const cachedLength = 2_000_000
const cachedTexts = 200

/** Compares texts, and keeps what it reads of those from which changes are made. Only a thread may call it: it parses. */
export function openSyntaxComparer() {
  const cache = new LRUCache<string, TextFacts>({
    max: cachedTexts,
    maxSize: cachedLength,
    sizeCalculation: (_facts, key) => Math.min(key.length, cachedLength),
  })
  return (change: ChangedText, loaded: Pick<LoadedLanguage, 'read'>): SyntaxVerdicts => {
    const { language, before = '', after } = change
    const was = getOrMake(cache, `${language} ${before}`, () => readFacts(before, language, loaded))
    return verdictsOf(change, was, readFacts(after, language, loaded, was.docs))
  }
}

/** With `before`, the doc comments of the text before the change, `docs` are those that are new. */
function readFacts(
  text: string,
  language: string,
  loaded: Pick<LoadedLanguage, 'read'>,
  before?: readonly DocumentedDefinition[],
) {
  return loaded.read(text, (tree) => {
    const docLanguage = docLanguageOf(language)
    const docs = docLanguage === undefined ? [] : fileDocs(tree, text, docLanguage, before)
    return { faults: syntaxFaultsOf(tree), ...codeAndComments(tree, text), docs }
  })
}

function verdictsOf(change: ChangedText, was: TextFacts, now: TextFacts): SyntaxVerdicts {
  const { language, before, after } = change
  const figures = { before: was.comments.length, after: now.comments.length }
  const isSameCode = before !== undefined && was.code === now.code
  const fault = commentFault(was.comments, now.comments, { isSameCode, language })
  const hidden = addedCharacter(before ?? '', after)
  const isOnlyComments = isSameCode && fault === undefined
  return {
    isOnlyComments,
    byCheck: {
      parses: parsed(was.faults, now.faults),
      comments_kept: { ...figures, fault },
      docstring_only: { ...figures, fault: isSameCode ? (fault ?? hidden) : 'the code changes' },
      parameters_documented: documentedAs('parameters_documented', was.docs, now.docs),
      says_something: documentedAs('says_something', was.docs, now.docs),
    },
    lineLength: isOnlyComments ? commentLines(change, [was.comments, now.comments]) : undefined,
  }
}

function parsed(was: SyntaxFaults, now: SyntaxFaults): CheckResult {
  const says = now.first === undefined ? undefined : `line ${now.first.line}: ${now.first.words}`
  const figures = { before: was.places, after: now.places }
  return hasNewFault(was, now)
    ? { ...figures, fault: says ?? 'it does not parse' }
    : { ...figures, fault: undefined, says }
}

function commentLines({ before = '', after, limits }: ChangedText, comments: readonly PlacedComment[][]) {
  if (limits === undefined) return undefined
  const [was, now] = [before, after].map((text, at) => {
    const rows = new Set((comments[at] ?? []).flatMap(rowsOf))
    const lines = linesOf(text)
    return { lines: () => lines, docstringRows: () => rows }
  })
  if (was === undefined || now === undefined) return undefined
  return lineLengthKept({ before: was, after: now, lineRuns: () => changedRuns(was.lines(), now.lines()) }, limits)
}

function rowsOf({ line, endLine }: PlacedComment): number[] {
  return Array.from({ length: endLine - line + 1 }, (_, at) => line - 1 + at)
}
