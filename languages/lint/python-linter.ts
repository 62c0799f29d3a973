import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import type { LintReport } from './lint-report.ts'
import type { LintRules, TextStyle } from '#domain/path-rules.ts'
import type { RuffQuestion, RuffReport } from './ruff-thread.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { openThreadPool, type ThreadAnswer } from '#platform/thread-pool.ts'

export type PythonLinter = {
  version: string
  /**
   * The faults of `text` under the rules of its file. Throws TOOL_006 for a text that Ruff cannot handle: nested too
   * deeply for its stack, or too slow. The next text is not affected.
   */
  lint(text: string, rules: LintRules): Promise<LintReport>
  /**
   * Formats `after` as Black would if `before` is formatted so, with the line length of `rules` or Black's own. Returns
   * `after` unchanged if `before` is not, or if Ruff cannot handle it.
   */
  keepFormat(before: string, after: string, rules: { text: Pick<TextStyle, 'lineLength'> }): Promise<string>
  /** Ruff's reason for refusing `options`, in its words; undefined when it accepts them. */
  refusalOf(options: LintRules['options']): Promise<string | undefined>
  /** Ends the thread; what is running and waiting fails. Safe to call twice. */
  close(): Promise<void>
}

type LintAnswer = { kind: 'report'; report: LintReport } | Extract<ThreadAnswer<LintReport>, { kind: 'lost' }>

/** Answers are cached: every operation on a file starts from the same text. Sizes are in bytes, about. */
const cacheLimit = { max: 500, maxSize: 20_000_000, sizeOf }
const diagnosticBytes = 550

const blackLineLength = 88

/**
 * One linter serves the whole process; texts are linted in the order they come, in a thread of its own. A text that
 * costs the thread its life is not linted again while that answer is cached.
 */
export async function openPythonLinter({ limitMs = 10_000 }: { limitMs?: number } = {}): Promise<PythonLinter> {
  const entry = new URL('./ruff-thread.ts', import.meta.url)
  const { ask, close } = openThreadPool<RuffQuestion, RuffReport>({ entry, name: 'Ruff', limitMs, threads: 1 })
  const started = await ask({ kind: 'version' })
  if (started.kind === 'lost') throw new AppError('TOOL_004', `Ruff does not start: ${started.why}`)
  const answers = openCachedAnswers<LintAnswer>(cacheLimit)

  async function askLint(text: string, rules: LintRules): Promise<LintAnswer> {
    const answer = await ask({ kind: 'lint', text, rules })
    if (answer.kind === 'lost') return answer
    if (answer.report.kind === 'lint') return { kind: 'report', report: answer.report.report }
    throw new AppError('TOOL_004', 'Ruff answered another question than it was asked')
  }

  return {
    version: started.report.kind === 'version' ? `ruff ${started.report.version}` : 'ruff',
    async lint(text, rules) {
      const key = sha256(`${JSON.stringify(rules)}\0${text}`)
      const answer = await answers.get(key, () => askLint(text, rules))
      if (answer.kind === 'report') return answer.report
      throw new AppError('TOOL_006', `the file cannot be linted: ${answer.why}`, { phase: 'execution' })
    },
    async keepFormat(before, after, { text: { lineLength } }) {
      const answer = await ask({ kind: 'format', before, after, lineLengths: [lineLength, blackLineLength] })
      return answer.kind === 'report' && answer.report.kind === 'format' ? answer.report.text : after
    },
    async refusalOf(options) {
      const answer = await ask({ kind: 'options', options })
      if (answer.kind === 'lost') return answer.why
      return answer.report.kind === 'options' ? answer.report.refusal : undefined
    },
    close,
  }
}

function sizeOf(answer: LintAnswer): number {
  if (answer.kind === 'lost') return 1
  const fixes = answer.report.diagnostics.flatMap((one) => one.fix ?? [])
  return 1 + diagnosticBytes * answer.report.diagnostics.length + fixes.reduce((sum, edit) => sum + edit.text.length, 0)
}
