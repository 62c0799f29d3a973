import { isSelected, type LintRules } from '#domain/path-rules.ts'
import type { Diagnostic, LintReport } from '../../lint/lint-report.ts'
import type { TextEdit } from '../../lint/text-edit.ts'
import type { RuffEdit, RuffItem } from './ruff-server.ts'
import { isSafeFix } from './safe-ruff-fixes.ts'

/**
 * The guard rules, for faults that no change may add whatever the repository's rules are: undefined names (F821, F822,
 * F823), a name defined twice (F811), an unused import (F401), a misplaced return or yield (F7), code that fails (E9). Where the
 * repository ignores one of them in a file, it is ignored there.
 */
export const guardRules = ['F401', 'F7', 'F811', 'F821', 'F822', 'F823', 'E9']

/** An unused noqa comment: a change may not make one unused in a repository that checks for them. */
const unusedNoqa = 'RUF100'

/** `hasTarget`: the repository says for which version of Python it is. */
type Reading = { ignored: LintRules['ignored']; hasTarget: boolean }

/** Reads Ruff's answers about a text: `found` by the repository's rules and the guard rules together, `own` by its own. */
export function lintReportOf(
  { found, own }: { found: readonly RuffItem[]; own: readonly RuffItem[] },
  text: string,
  { ignored, hasTarget }: Reading,
): LintReport {
  const placeOf = places(text)
  const read = (items: readonly RuffItem[]) =>
    items
      .map((item) => diagnosticOf(item, { text, placeOf, hasTarget }))
      .toSorted((left, right) => left.start - right.start)
  const isSyntax = ({ code }: Diagnostic) => code === 'invalid-syntax'
  const diagnostics = read(own).filter(({ code }) => !isSelected(code, ignored))
  const all = read(found)
  return {
    diagnostics,
    guards: [
      ...all.filter(({ code }) => isSelected(code, guardRules)),
      ...diagnostics.filter(({ code }) => code === unusedNoqa),
    ],
    syntaxErrors: all.filter(isSyntax),
  }
}

/** Makes Ruff's edits in a text. */
export function withRuffEdits(text: string, edits: readonly RuffEdit[]): string {
  const placeOf = places(text)
  const inOrder = edits.toSorted((left, right) => placeOf(right.range.start) - placeOf(left.range.start))
  return inOrder.reduce(
    (whole, { range, newText }) => whole.slice(0, placeOf(range.start)) + newText + whole.slice(placeOf(range.end)),
    text,
  )
}

type LintedText = { text: string; placeOf: ReturnType<typeof places>; hasTarget: boolean }

function diagnosticOf({ code, message, range, data }: RuffItem, linted: LintedText): Diagnostic {
  const { placeOf } = linted
  const edits = data?.edits.map((edit): TextEdit => {
    return { start: placeOf(edit.range.start), end: placeOf(edit.range.end), text: edit.newText }
  })
  const ofRule = code ?? 'invalid-syntax'
  const withheld = edits === undefined || edits.length === 0 ? undefined : withheldBy(ofRule, edits, data, linted)
  const hasFix = edits !== undefined && edits.length > 0 && withheld === undefined
  return {
    code: ofRule,
    message: message.replace(/\n\nhelp: [\s\S]*$/, ''),
    line: range.start.line + 1,
    column: range.start.character + 1,
    start: placeOf(range.start),
    end: placeOf(range.end),
    fix: hasFix ? edits : undefined,
    ...(withheld === undefined ? {} : { withheld }),
  }
}

function withheldBy(
  code: string,
  edits: readonly TextEdit[],
  fix: RuffItem['data'],
  { text, hasTarget }: LintedText,
): Diagnostic['withheld'] {
  if (fix?.is_preferred === false) return 'unsafe'
  // Two names are one class only from a version on, which Ruff guesses where the repository does not say it.
  if (code === 'UP041' && !hasTarget) return 'ours'
  return isSafeFix(code, edits, text) ? undefined : 'ours'
}

/** Returns the index of a place; Ruff counts LF, CRLF and a lone CR as line ends. */
function places(text: string): (at: RuffEdit['range']['start']) => number {
  const starts = [0]
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length)
  return ({ line, character }) => Math.min((starts[line] ?? text.length) + character, text.length)
}
