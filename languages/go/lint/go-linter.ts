import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { openSemaphore } from '#platform/limit-concurrency.ts'
import type { Diagnostic, LintReport } from '../../lint/lint-report.ts'
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

type GoAnswer = { kind: 'report'; report: LintReport; formatted: string | undefined } | { kind: 'lost'; why: string }

/** Every operation on a file starts from the same text. Sizes are in bytes, about. */
const cacheLimit = { max: 500, maxSize: 10_000_000, sizeOf }
const diagnosticBytes = 550

const absent = 'there is no gofmt on the search path'
/** A gofmt that works makes the second of the first. */
const [rough, smooth] = ['package a\n\nvar  a=1\n', 'package a\n\nvar a = 1\n']

/** Most of the time goes into the start of a process; each may take up to a gigabyte for a text that is made for it. */
const atOnce = 2

/** One linter serves the whole process. */
export async function openGoLinter(options: { searchPath: string; limitMs?: number }): Promise<GoLinter> {
  const { searchPath, limitMs = 10_000 } = options
  const gofmt = await findGofmt(searchPath)
  const closing = new AbortController()
  const answers = openCachedAnswers<GoAnswer>(cacheLimit)
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
  const read = async (text: string) => {
    const answer = await answers.get(sha256(text), () => reportOn(text, format))
    if (answer.kind === 'report') return answer
    throw new AppError('TOOL_006', `the file cannot be linted: ${answer.why}`, { phase: 'execution' })
  }
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

async function reportOn(text: string, format: Format): Promise<GoAnswer> {
  const early = beforePackage(text)
  if (early !== undefined) return brokenReport([early], text)
  // gofmt leaves comments with CRLF as they are, and would change them in its next pass.
  const unix = text.replaceAll('\r\n', '\n')
  const simple = await format({ text: unix, isSimplified: true })
  if (simple.kind === 'lost') return simple
  if (simple.kind === 'broken') return brokenReport(simple.faults, text)
  const withEnds = hasOnlyCrlf(text) ? (one: string) => one.replaceAll('\n', '\r\n') : (one: string) => one
  const simplified = withEnds(simple.text)
  if (simplified === text) return reportOf([], simple.text)
  const plain = await format({ text: unix, isSimplified: false })
  if (plain.kind === 'lost') return plain
  const formatted = plain.kind === 'formatted' ? withEnds(plain.text) : simplified
  return reportOf(formatFaults(text, { formatted, simplified }), simple.text)
}

function reportOf(diagnostics: Diagnostic[], formatted: string): GoAnswer {
  return { kind: 'report', report: { diagnostics, guards: [], syntaxErrors: [] }, formatted }
}

function brokenReport(faults: Extract<GofmtAnswer, { kind: 'broken' }>['faults'], text: string): GoAnswer {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), (end) => end.index + 1)]
  const syntaxErrors = faults.map(({ line, column, message }): Diagnostic => {
    const start = starts[line - 1] ?? text.length
    return { code: 'invalid-syntax', message, line, column, start, end: start, fix: undefined }
  })
  return { kind: 'report', report: { diagnostics: [], guards: [], syntaxErrors }, formatted: undefined }
}

function hasOnlyCrlf(text: string): boolean {
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text)
}

const trivia = /\uFEFF|[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y

/** gofmt also takes pieces of Go; a file begins with its package clause. The fault of one that does not. */
function beforePackage(text: string) {
  trivia.lastIndex = 0
  let at = 0
  while (trivia.test(text)) at = trivia.lastIndex
  if (/^package(?!\w)/.test(text.slice(at, at + 8))) return undefined
  return { line: text.slice(0, at).split('\n').length, column: 1, message: "expected 'package'" }
}

function sizeOf(answer: GoAnswer): number {
  if (answer.kind === 'lost') return 1
  const { diagnostics } = answer.report
  const edits = diagnostics.flatMap(({ fix = [] }) => fix)
  return 1 + (answer.formatted ?? '').length + diagnosticBytes * diagnostics.length + 50 * edits.length
}
