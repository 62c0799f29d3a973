import { z } from 'zod'
import { isSafeFix } from './safe-fixes.ts'
import type { TextEdit } from './text-edit.ts'

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
  /** Edits of a fix that Ruff always marks safe; undefined when there is none, or it may change behaviour. */
  fix: TextEdit[] | undefined
}

export type LintReport = { diagnostics: Diagnostic[]; syntaxErrors: Diagnostic[] }

/** Ruff's answer on `text`, with the syntax errors apart from the rest. */
export function lintReportOf(answer: unknown, text: string): LintReport {
  const found = RawDiagnostics.parse(answer)
  const lineStarts = lineStartsOf(text)
  const all = found.map((raw) => diagnosticOf(raw, text, lineStarts))
  const isSyntax = (diagnostic: Diagnostic) => diagnostic.code === 'invalid-syntax'
  return { diagnostics: all.filter((one) => !isSyntax(one)), syntaxErrors: all.filter(isSyntax) }
}

function diagnosticOf(raw: z.infer<typeof RawDiagnostic>, text: string, lineStarts: readonly number[]): Diagnostic {
  const at = (location: z.infer<typeof Location>) =>
    Math.min((lineStarts[location.row - 1] ?? text.length) + location.column - 1, text.length)
  const code = raw.code ?? 'invalid-syntax'
  const edits = raw.fix?.edits.map((edit) => ({
    start: at(edit.location),
    end: at(edit.end_location),
    text: edit.content ?? '',
  }))
  return {
    code,
    message: raw.message,
    line: raw.start_location.row,
    column: raw.start_location.column,
    start: at(raw.start_location),
    end: at(raw.end_location),
    fix: edits !== undefined && isSafeFix(code, edits, text) ? edits : undefined,
  }
}

/** Ruff counts LF, CRLF and a lone CR as line ends. */
function lineStartsOf(text: string): number[] {
  const starts = [0]
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length)
  return starts
}
