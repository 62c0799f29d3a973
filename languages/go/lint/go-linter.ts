import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { openSemaphore } from '#platform/limit-concurrency.ts'
import { type Diagnostic, type LintAnswer, type LintReport, openLintAnswers } from '../../lint/lint-report.ts'
import { formatFaults } from './format-faults.ts'
import { findGofmt, type FormatQuestion, type GofmtAnswer, runGofmt } from './gofmt-process.ts'

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
