import { LRUCache } from 'lru-cache'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/hash.ts'
import type { LintReport } from './lint-report.ts'
import { openRuffLink, type RuffAnswer, type RuffLink } from './ruff-link.ts'

export type PythonLinter = {
  version: string
  /** TOOL_006 for a text that Ruff cannot take: nested too deep for its stack, or too slow. The next text is unharmed. */
  lint(text: string): Promise<LintReport>
  /** Ends the thread; what is under way and waiting fails. Safe to call twice. */
  close(): Promise<void>
}

/** Answers kept: every operation on a file starts from the same text. Sizes in about one character. */
const kept = { max: 500, maxSize: 20_000_000, sizeCalculation: sizeOf }

/**
 * Ruff in a thread of its own, which a text may destroy: then another is started, and the text is not tried again while
 * it is remembered. One linter serves the whole process; texts are linted in the order they come.
 */
export async function openPythonLinter(options: { limitMs?: number } = {}): Promise<PythonLinter> {
  const { limitMs = 10_000 } = options
  let link: RuffLink | undefined = await openRuffLink(limitMs)
  const version = `ruff ${link.version}`
  let closed = false
  let turn: Promise<unknown> = Promise.resolve()
  const answers = new LRUCache<string, RuffAnswer>(kept)
  const underWay = new Map<string, Promise<RuffAnswer>>()

  async function askRuff(text: string): Promise<RuffAnswer> {
    if (closed) throw closedError()
    link ??= await openRuffLink(limitMs)
    if (closed) throw closedError()
    const answer = await link.lint(text)
    if (answer.kind === 'lost') link = undefined
    if (closed) throw closedError()
    return answer
  }

  async function askOnce(key: string, text: string): Promise<RuffAnswer> {
    const asked = turn.then(() => askRuff(text))
    turn = asked.catch(() => undefined)
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
    version,
    async lint(text) {
      const key = sha256(text)
      const answer = answers.get(key) ?? (await (underWay.get(key) ?? askOnce(key, text)))
      if (answer.kind === 'report') return answer.report
      throw new AppError('TOOL_006', `the file cannot be linted: ${answer.why}`, { phase: 'execution' })
    },
    async close() {
      closed = true
      await link?.close()
      await turn
      await link?.close()
    },
  }
}

function closedError(): AppError {
  return new AppError('AGENT_010', 'the linter was closed')
}

function sizeOf(answer: RuffAnswer): number {
  if (answer.kind === 'lost') return 1
  const fixes = answer.report.diagnostics.flatMap((one) => one.fix ?? [])
  return 1 + 200 * answer.report.diagnostics.length + fixes.reduce((sum, edit) => sum + edit.text.length, 0)
}
