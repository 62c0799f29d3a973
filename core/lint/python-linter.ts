import { LRUCache } from 'lru-cache'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/hash.ts'
import type { LintReport } from './lint-report.ts'
import type { LintRules, TextStyle } from '#domain/path-rules.ts'
import type { RuffQuestion, RuffReport } from './ruff-thread.ts'
import { openLastingThread, type KnownAnswer } from '#platform/lasting-thread.ts'
import { openThreadLink } from '#platform/thread-link.ts'

export type PythonLinter = {
  version: string
  /**
   * The faults of `text` under the rules of its file. TOOL_006 for a text that Ruff cannot take: nested too deep for its
   * stack, or too slow. The next text is unharmed.
   */
  lint(text: string, rules: LintRules): Promise<LintReport>
  /**
   * `after` formatted as Black would, if `before` is: with `style`'s line length, or Black's own. `after` as it is where
   * `before` is not, or Ruff cannot take it.
   */
  keepFormat(before: string, after: string, style: Pick<TextStyle, 'lineLength'>): Promise<string>
  /** What Ruff finds wrong with `options`, in its words; undefined when it takes them. */
  refusalOf(options: LintRules['options']): Promise<string | undefined>
  /** Ends the thread; what is under way and waiting fails. Safe to call twice. */
  close(): Promise<void>
}

type LintAnswer = KnownAnswer<LintReport>

/** Answers kept: every operation on a file starts from the same text. Sizes in about one character. */
const kept = { max: 500, maxSize: 20_000_000, sizeCalculation: sizeOf }

/** Black's own, where a repository sets none. */
const blackLineLength = 88

/**
 * One linter serves the whole process; texts are linted in the order they come, in a thread of its own. A text that costs
 * the thread its life is not tried again while it is remembered.
 */
export async function openPythonLinter({ limitMs = 10_000 }: { limitMs?: number } = {}): Promise<PythonLinter> {
  const entry = new URL('./ruff-thread.ts', import.meta.url)
  const open = () => openThreadLink<RuffQuestion, RuffReport>({ entry, name: 'Ruff', limitMs })
  const { version, ask, close } = openLastingThread(open, 'the linter')
  const ruff = `ruff ${await version()}`
  const answers = new LRUCache<string, LintAnswer>(kept)
  const underWay = new Map<string, Promise<LintAnswer>>()

  async function askRuff(question: Extract<RuffQuestion, { kind: 'lint' }>): Promise<LintAnswer> {
    const answer = await ask(question)
    if (answer.kind === 'lost') return answer
    if (answer.report.kind === 'lint') return { kind: 'report', report: answer.report.report }
    throw new AppError('TOOL_004', 'Ruff answered another question than it was asked')
  }

  async function askOnce(key: string, question: Extract<RuffQuestion, { kind: 'lint' }>): Promise<LintAnswer> {
    const asked = askRuff(question)
    underWay.set(key, asked)
    try {
      const answer = await asked
      answers.set(key, answer)
      return answer
    } finally {
      underWay.delete(key)
    }
  }

  return {
    version: ruff,
    async lint(text, rules) {
      const key = sha256(`${JSON.stringify(rules)}\0${text}`)
      const answer = answers.get(key) ?? (await (underWay.get(key) ?? askOnce(key, { kind: 'lint', text, rules })))
      if (answer.kind === 'report') return answer.report
      throw new AppError('TOOL_006', `the file cannot be linted: ${answer.why}`, { phase: 'execution' })
    },
    async keepFormat(before, after, { lineLength }) {
      const answer = await ask({ kind: 'format', before, after, lineLengths: [lineLength, blackLineLength] })
      return answer.kind === 'report' && answer.report.kind === 'format' ? answer.report.text : after
    },
    async refusalOf(options) {
      const answer = await ask({ kind: 'options', options })
      if (answer.kind === 'lost') return answer.why
      return answer.report.kind === 'options' ? answer.report.refusal : undefined
    },
    async close() {
      await close()
      await Promise.allSettled(underWay.values())
    },
  }
}

function sizeOf(answer: LintAnswer): number {
  if (answer.kind === 'lost') return 1
  const fixes = answer.report.diagnostics.flatMap((one) => one.fix ?? [])
  return 1 + 200 * answer.report.diagnostics.length + fixes.reduce((sum, edit) => sum + edit.text.length, 0)
}
