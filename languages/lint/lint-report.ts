import { z } from 'zod'
import { isSelected, type LintRules } from '#domain/path-rules.ts'
import { isSafeFix, type TextEdit } from './safe-fixes.ts'

const Location = z.object({ row: z.int(), column: z.int() })
const RawDiagnostic = z.object({
  code: z.string().nullable(),
  message: z.string(),
  start_location: Location,
  end_location: Location,
  fix: z
    .object({
      edits: z.array(z.object({ content: z.string().nullable(), location: Location, end_location: Location })),
    })
    .nullable(),
})

const RawDiagnostics = z.array(RawDiagnostic)

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

/**
 * An unused noqa comment. It is not reported as a fault, since many rules find nothing without the file's path; but a
 * change may not make one unused in a repository that checks for them.
 */
const unusedNoqa = 'RUF100'

export function lintReportOf(answers: { own: readonly unknown[]; guards: unknown }, text: string, rules: LintRules) {
  const lineStarts = lineStartsOf(text)
  const read = (answer: unknown) =>
    RawDiagnostics.parse(answer).map((raw) => diagnosticOf(raw, { text, lineStarts, rules }))
  const isSyntax = (diagnostic: Diagnostic) => diagnostic.code === 'invalid-syntax'
  const isOwn = (one: Diagnostic) => !isSyntax(one) && !isSelected(one.code, rules.ignored)
  const own = rules.isExcluded ? [] : answers.own.flatMap(read)
  const guards = read(answers.guards)
  return {
    diagnostics: own.filter(isOwn),
    guards: [...guards.filter((one) => !isSyntax(one)), ...own.filter(({ code }) => code === unusedNoqa)],
    syntaxErrors: guards.filter(isSyntax),
  }
}

type LintedText = { text: string; lineStarts: readonly number[]; rules: LintRules }

function diagnosticOf(raw: z.infer<typeof RawDiagnostic>, { text, lineStarts, rules }: LintedText): Diagnostic {
  const at = (location: z.infer<typeof Location>) =>
    Math.min((lineStarts[location.row - 1] ?? text.length) + location.column - 1, text.length)
  const code = raw.code ?? 'invalid-syntax'
  const edits = raw.fix?.edits.map((edit) => ({
    start: at(edit.location),
    end: at(edit.end_location),
    text: edit.content ?? '',
  }))
  const withheld = withheldBy(code, edits, { text, rules })
  return {
    code,
    message: raw.message,
    line: raw.start_location.row,
    column: raw.start_location.column,
    start: at(raw.start_location),
    end: at(raw.end_location),
    fix: withheld === undefined ? edits : undefined,
    ...(withheld === undefined ? {} : { withheld }),
  }
}

function withheldBy(
  code: string,
  edits: readonly TextEdit[] | undefined,
  { text, rules }: Omit<LintedText, 'lineStarts'>,
) {
  if (edits === undefined) return undefined
  if (isSelected(code, rules.unfixable)) return 'unsafe'
  // Two names are one class only from a version on, which Ruff guesses where the repository does not say it.
  if (code === 'UP041' && rules.options['target-version'] === undefined) return 'ours'
  return isSafeFix(code, edits, text) ? undefined : 'ours'
}

/** Ruff counts LF, CRLF and a lone CR as line ends. */
function lineStartsOf(text: string): number[] {
  const starts = [0]
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length)
  return starts
}
