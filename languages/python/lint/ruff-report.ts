import { isSelected, type LintRules } from '#domain/path-rules.ts'
import type { Diagnostic, LintReport } from '../../lint/lint-report.ts'
import { indexIn } from '../../lint/language-server.ts'
import { type TextEdit, withEdits } from '../../lint/text-edit.ts'
import type { RuffEdit, RuffItem } from './ruff-server.ts'
import { isSafeFix } from './safe-ruff-fixes.ts'

/**
 * The guard rules, for faults that no change may add whatever the repository's rules are: undefined names (F821, F822,
 * F823), a name defined twice (F811), an unused import (F401), a misplaced return or yield (F7), code that fails (E9). Where the
 * repository ignores one of them in a file, it is ignored there.
 */
export const guardRules = ['F401', 'F7', 'F811', 'F821', 'F822', 'F823', 'E9']

/** Reports an unused noqa comment: a change may not make one unused in a repository that checks for them. */
const unusedNoqa = 'RUF100'

/** `hasTarget`: the repository says for which version of Python it is. */
type Reading = { ignored: LintRules['ignored']; hasTarget: boolean }

/** Reads Ruff's answers about a text: `all` by the repository's rules and the guard rules together, `own` by its own. */
export function lintReportOf(
  { all, own }: { all: readonly RuffItem[]; own: readonly RuffItem[] },
  text: string,
  { ignored, hasTarget }: Reading,
): LintReport {
  const indexOf = indexIn(text)
  const read = (items: readonly RuffItem[]) =>
    items
      .map((item) => diagnosticOf(item, { text, indexOf, hasTarget }))
      .toSorted((left, right) => left.start - right.start)
  const isSyntax = ({ code }: Diagnostic) => code === 'invalid-syntax'
  const diagnostics = read(own).filter(({ code }) => !isSelected(code, ignored))
  const faults = read(all)
  return {
    diagnostics,
    guards: [
      ...faults.filter(({ code }) => isSelected(code, guardRules)),
      ...diagnostics.filter(({ code }) => code === unusedNoqa),
    ],
    syntaxErrors: faults.filter(isSyntax),
  }
}

/** Makes Ruff's edits in a text. */
export function withRuffEdits(text: string, edits: readonly RuffEdit[]): string {
  return withEdits(text, edits.map(textEdit(indexIn(text))))
}

type IndexOf = ReturnType<typeof indexIn>

function textEdit(indexOf: IndexOf): (edit: RuffEdit) => TextEdit {
  return ({ range, newText }) => ({ start: indexOf(range.start), end: indexOf(range.end), text: newText })
}

type LintedText = { text: string; indexOf: IndexOf; hasTarget: boolean }

function diagnosticOf({ code, message, range, data }: RuffItem, linted: LintedText): Diagnostic {
  const { indexOf } = linted
  const edits = data?.edits.map(textEdit(indexOf)) ?? []
  const ofRule = code ?? 'invalid-syntax'
  const withheld = edits.length === 0 ? undefined : withheldBy(ofRule, edits, data, linted)
  return {
    code: ofRule,
    message: message.replace(/\n\nhelp: [\s\S]*$/, ''),
    line: range.start.line + 1,
    column: range.start.character + 1,
    start: indexOf(range.start),
    end: indexOf(range.end),
    fix: edits.length > 0 && withheld === undefined ? edits : undefined,
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
