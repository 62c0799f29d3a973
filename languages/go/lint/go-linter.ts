import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { openSemaphore } from '#platform/limit-concurrency.ts'
import { type Diagnostic, type LintAnswer, type LintReport, openLintAnswers } from '../../lint/lint-report.ts'
import { findGofmt, type FormatQuestion, type GofmtAnswer, runGofmt } from './gofmt-process.ts'
import { type ChangedRun, changedRuns } from '#platform/changed-ranges.ts'
import { smallestEdit, type TextEdit } from '../../lint/text-edit.ts'

export type GoLinter = {
  /** Is gofmt's name with its version, or only its name where there is none. */
  version: string
  /** Says why Go is not linted here; undefined where gofmt works. */
  lack(): Promise<string | undefined>
  /**
   * Reports what `gofmt -s` would change. A text that ends its lines with CRLF may keep them. Throws TOOL_006 for a text that gofmt
   * cannot handle, and for every text where there is no gofmt.
   */
  lint(text: string): Promise<LintReport>
  /** Returns what `gofmt -s` makes of a text; undefined for one that does not parse. Throws TOOL_006 as `lint` does. */
  formatted(text: string): Promise<string | undefined>
  /** Ends what is running; nothing is formatted any more. Safe to call twice. */
  close(): void
}

const maxCachedBytes = 10_000_000

const absent = 'there is no gofmt on the search path'
/** A gofmt that works makes the second of the first. */
const [rough, smooth] = ['package a\n\nvar  a=1\n', 'package a\n\nvar a = 1\n']

/** Most of the time goes into the start of a process; each may take up to a gigabyte for a text that is made for it. */
const atOnce = 2

export async function openGoLinter(options: { searchPath: string; limitMs?: number }): Promise<GoLinter> {
  const { searchPath, limitMs = 10_000 } = options
  const gofmt = await findGofmt(searchPath)
  const closing = new AbortController()
  const answerFor = openLintAnswers(maxCachedBytes)
  const slots = openSemaphore(atOnce)
  const format = async (question: FormatQuestion): Promise<GofmtAnswer> => {
    if (gofmt === undefined) return { kind: 'lost', why: absent }
    const leave = await slots.acquire(closing.signal)
    try {
      return await runGofmt(gofmt, question, { limitMs, signal: closing.signal })
    } finally {
      leave()
    }
  }
  const read = (text: string) => answerFor(sha256(text), () => reportOn(text, format))
  let tried: Promise<string | undefined> | undefined
  return {
    version: gofmt?.version ?? 'gofmt',
    lack: () => (tried ??= gofmt === undefined ? Promise.resolve(absent) : faultOf(gofmt.path, format)),
    lint: async (text) => (await read(text)).report,
    formatted: async (text) => (await read(text)).formatted,
    close: () => closing.abort(new AppError('AGENT_010', 'the linter is closed')),
  }
}

type Format = (question: FormatQuestion) => Promise<GofmtAnswer>

async function faultOf(path: string, format: Format): Promise<string | undefined> {
  const answer = await format({ text: rough, isSimplified: true })
  if (answer.kind === 'formatted' && answer.text === smooth) return undefined
  return `${path} does not format Go${answer.kind === 'lost' ? `: ${answer.why}` : ''}`
}

async function reportOn(text: string, format: Format): Promise<LintAnswer> {
  const early = beforePackage(text)
  if (early !== undefined) return brokenReport([early], text)
  // gofmt leaves comments with CRLF as they are, and would change them in its next pass.
  const unix = text.replaceAll('\r\n', '\n')
  const simple = await format({ text: unix, isSimplified: true })
  if (simple.kind === 'lost') return simple
  if (simple.kind === 'broken') return brokenReport(simple.faults, text)
  const withEnds = hasOnlyCrlf(text)
    ? (unixText: string) => unixText.replaceAll('\n', '\r\n')
    : (unixText: string) => unixText
  const simplified = withEnds(simple.text)
  if (simplified === text) return reportOf([], simple.text)
  const plain = await format({ text: unix, isSimplified: false })
  if (plain.kind === 'lost') return plain
  const formatted = plain.kind === 'formatted' ? withEnds(plain.text) : simplified
  return reportOf(formatFaults(text, { formatted, simplified }), simple.text)
}

function reportOf(diagnostics: Diagnostic[], formatted: string): LintAnswer {
  return { kind: 'report', report: { diagnostics, guards: [], syntaxErrors: [] }, formatted }
}

function brokenReport(faults: Extract<GofmtAnswer, { kind: 'broken' }>['faults'], text: string): LintAnswer {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), (end) => end.index + 1)]
  const syntaxErrors = faults.map(({ line, column, message }): Diagnostic => {
    const start = starts[line - 1] ?? text.length
    return { code: 'invalid-syntax', message, line, column, start, end: start, fix: undefined }
  })
  return { kind: 'report', report: { diagnostics: [], guards: [], syntaxErrors } }
}

function hasOnlyCrlf(text: string): boolean {
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text)
}

const trivia = /\uFEFF|[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y

/** Returns the fault of a file that does not begin with its package clause: gofmt also takes pieces of Go. */
function beforePackage(text: string) {
  trivia.lastIndex = 0
  let at = 0
  while (trivia.test(text)) at = trivia.lastIndex
  if (/^package(?!\w)/.test(text.slice(at, at + 8))) return undefined
  return { line: text.slice(0, at).split('\n').length, column: 1, message: "expected 'package'" }
}

/** The same text as gofmt writes it, and as `gofmt -s` does. */
type Formatted = { formatted: string; simplified: string }

const messages = {
  gofmt: 'not formatted as gofmt formats it',
  'gofmt-s': 'gofmt -s writes it more simply',
} as const

/**
 * Returns a fault for each part of `text` that differs from what `gofmt -s` makes of it: `gofmt-s` where only -s writes it so, else
 * `gofmt`. All their fixes together make the text of `gofmt -s`.
 */
function formatFaults(text: string, { formatted, simplified }: Formatted): Diagnostic[] {
  const [before, target] = [linesOf(text), linesOf(simplified)]
  const starts = startsOf(before)
  const simplerRows = new Set(rowsOf(formatted === simplified ? [] : changedRuns(linesOf(formatted), target)))
  return changedRuns(before, target).map((run) => {
    const code = rowsOf([run]).some((row) => simplerRows.has(row)) ? 'gofmt-s' : 'gofmt'
    const start = starts[run.before.start] ?? text.length
    const removed = before.slice(run.before.start, run.before.end)
    const fix = editsOf({ start, removed, added: target.slice(run.after.start, run.after.end) }, text)
    return {
      code,
      message: messages[code],
      line: Math.min(run.before.start + 1, before.length),
      column: 1,
      start: fix[0]?.start ?? start,
      end: fix.at(-1)?.end ?? start,
      fix,
    }
  })
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}

function startsOf(lines: readonly string[]): number[] {
  let at = 0
  return lines.map((line) => (at += line.length) - line.length)
}

/** Lists the rows after the change, and the one behind it: where lines only went, there is no other. */
function rowsOf(runs: readonly ChangedRun[]): number[] {
  return runs.flatMap(({ after: { start, end } }) => Array.from({ length: end - start + 1 }, (_, at) => start + at))
}

type Hunk = { start: number; removed: readonly string[]; added: readonly string[] }

/** Replaces lines one by one where as many come as go, so that what stays between them is not touched. */
function editsOf({ start, removed, added }: Hunk, text: string): TextEdit[] {
  if (removed.length !== added.length) {
    const edit = { start, end: start + removed.join('').length, text: added.join('') }
    return [withoutGap(smallestEdit(edit, text), text)]
  }
  const starts = startsOf(removed)
  return removed.flatMap((line, at) => {
    const from = start + (starts[at] ?? 0)
    const edit = { start: from, end: from + line.length, text: added[at] ?? '' }
    return line === edit.text ? [] : [smallestEdit(edit, text)]
  })
}

/**
 * Lets an edit that only removes whole lines also replace the line end before them: blank lines around them would be judged when the fix
 * is made (`withFixes`), and gofmt has judged them already.
 */
function withoutGap(edit: TextEdit, text: string): TextEdit {
  const isWholeLines =
    edit.text === '' && text[edit.start - 1] === '\n' && (edit.end === text.length || text[edit.end - 1] === '\n')
  return isWholeLines ? { ...edit, start: edit.start - 1, text: '\n' } : edit
}
