import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { sha256 } from '#domain/hash.ts'
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

/** The rule groups that are looked at: pycodestyle, Pyflakes and the groups with mechanical fixes. */
const selected = ['E', 'F', 'W', 'UP', 'B', 'C4', 'PIE', 'RET', 'SIM']

/** Line length and tab indentation are a formatter's and a project's choice, not faults. */
const ignored = ['E501', 'W191', 'E101', 'UP035']

export type PythonLinter = { version: string; lint(text: string): LintReport }

/** Reports kept: every operation on a file starts from the same text. */
const keptReports = 500

/** Ruff in this process: no file system, no configuration of its own. One serves the whole process. */
export function openPythonLinter(): PythonLinter {
  const options = { 'target-version': 'py310', lint: { select: selected, ignore: ignored } }
  const workspace = new Workspace(options, PositionEncoding.Utf16)
  const reports = new LRUCache<string, LintReport>({ max: keptReports })
  const lint = (text: string) => {
    const key = sha256(text)
    const report = reports.get(key) ?? reportOf(workspace.check(text), text)
    reports.set(key, report)
    return report
  }
  return { version: `ruff ${Workspace.version()}`, lint }
}

/** Syntax errors come apart from the rest. */
function reportOf(answer: unknown, text: string): LintReport {
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
