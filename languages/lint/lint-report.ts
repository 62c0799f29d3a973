import { isSelected, type LintRules } from '#domain/path-rules.ts'
import type { RuffEdit, RuffItem } from '../python/lint/ruff-server.ts'
import type { RuffSettings } from '../python/lint/ruff-settings.ts'
import { isSafeFix, type TextEdit } from './safe-fixes.ts'

/**
 * The guard rules, for faults that no change may add whatever the repository's rules are: undefined names (F821, F822,
 * F823), a name defined twice (F811), an unused import (F401), a misplaced return or yield (F7), code that fails (E9). Where the
 * repository ignores one of them in a file, it is ignored there.
 */
export const guardRules = ['F401', 'F7', 'F811', 'F821', 'F822', 'F823', 'E9']

/** One lint fault. Lines and columns are 1-based; `start`/`end` are UTF-16 units of the text. */
export type Diagnostic = {
  code: string
  message: string
  line: number
  column: number
  start: number
  end: number
  /** Edits of a fix that is on our safe list and that the repository allows; undefined when there is none. */
  fix: TextEdit[] | undefined
  /** Says why a fix that Ruff has is not made: `ours`, it is not on our list; `unsafe`, it counts as unsafe in this file. */
  withheld?: 'ours' | 'unsafe'
  /** Says why what is reported has to stay, although the linter sees no need: it has no fix then, and no agent is asked for one. */
  mustStay?: string
}

export type LintReport = {
  /** Lists faults under the repository's own rules; empty for a file that its linter excludes or that is not valid Python 3. */
  diagnostics: Diagnostic[]
  /** Faults that no change may add: those of the guard rules, and unused noqa comments. */
  guards: Diagnostic[]
  syntaxErrors: Diagnostic[]
}

/** An unused noqa comment: a change may not make one unused in a repository that checks for them. */
const unusedNoqa = 'RUF100'

type Reading = { rules: Pick<LintRules, 'ignored'>; settings: RuffSettings }

/** Reads Ruff's answers about a text: `found` by the repository's rules and the guard rules together, `own` by its own. */
export function lintReportOf(
  { found, own }: { found: readonly RuffItem[]; own: readonly RuffItem[] },
  text: string,
  { rules, settings }: Reading,
): LintReport {
  const placeOf = places(text)
  const read = (items: readonly RuffItem[]) =>
    items
      .map((item) =>
        diagnosticOf(item, {
          text,
          placeOf,
          hasTarget: settings.value('linter.unresolved_target_version') !== undefined,
        }),
      )
      .toSorted((one, other) => one.start - other.start)
  const isSyntax = ({ code }: Diagnostic) => code === 'invalid-syntax'
  const diagnostics = read(own).filter(({ code }) => !isSelected(code, rules.ignored))
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
  const inOrder = edits.toSorted((one, other) => placeOf(other.range.start) - placeOf(one.range.start))
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
