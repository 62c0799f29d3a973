import { extname } from 'node:path/posix'
import { AppError, hasCode } from '#domain/error.ts'
import type { Evidence, TextCheck } from '#domain/change-set.ts'
import { grammarVersion } from '#syntax/grammars.ts'
import { openThreadPool } from '#platform/thread-pool.ts'
import type { Mutant } from './mutants.ts'
import { hasNewFault, type SyntaxFacts } from './parses.ts'
import type { Definition, TestFunction } from './test-functions.ts'

type CheckedText = { path: string; before: string | undefined; after: string }

/**
 * Makes the checks of a file that is not Python one by one, and parses each of its two texts once. A change may add no
 * syntax error and lose no comment; other checks do not exist for such files.
 */
export function openSyntaxEvidence(syntax: Pick<SyntaxChecker, 'read'>) {
  return (file: CheckedText, language: string | undefined) => {
    let reading: Promise<[SyntaxFacts, SyntaxFacts]> | undefined
    return async (check: TextCheck): Promise<Evidence> => {
      if (language === undefined || !(check === 'parses' || check === 'comments_kept')) {
        return notChecked(file.path, check, language)
      }
      const proof = { check, path: file.path, tool: grammarVersion(language) }
      try {
        reading ??= readBoth(file, language, syntax)
        const [was, now] = await reading
        return check === 'parses' ? { ...proof, ...parsed(was, now) } : { ...proof, ...commented(was, now) }
      } catch (error) {
        if (!hasCode(error, 'TOOL_006')) throw error
        return { ...proof, ok: false, detail: error.message }
      }
    }
  }
}

async function readBoth(
  { before, after }: CheckedText,
  language: string,
  syntax: Pick<SyntaxChecker, 'read'>,
): Promise<[SyntaxFacts, SyntaxFacts]> {
  const was = await syntax.read({ language, text: before ?? '' })
  return [was, await syntax.read({ language, text: after })]
}

type Proved = Pick<Evidence, 'ok' | 'before' | 'after' | 'detail'>

function parsed({ faults: was }: SyntaxFacts, { faults: now }: SyntaxFacts): Proved {
  const detail = now.first === undefined ? {} : { detail: `line ${now.first.line}: ${now.first.words}` }
  return { ok: !hasNewFault(was, now), before: was.places, after: now.places, ...detail }
}

function commented({ comments: was }: SyntaxFacts, { comments: now }: SyntaxFacts): Proved {
  const figures = { before: was.length, after: now.length }
  let next = 0
  for (const { text, line } of was) {
    const at = now.findIndex((comment, place) => place >= next && comment.text === text)
    if (at < 0)
      return { ok: false, ...figures, detail: `line ${line}: the comment ${JSON.stringify(text.slice(0, 60))} is gone` }
    next = at + 1
  }
  return { ok: true, ...figures }
}

/** Records that `check` was requested and cannot be made, so that it is not taken for proved. */
function notChecked(path: string, check: TextCheck, language: string | undefined): Evidence {
  const kind = language ?? (extname(path) === '' ? 'files without an ending' : `${extname(path)} files`)
  const means =
    check === 'parses' || check === 'comments_kept'
      ? 'grammar'
      : check === 'lint_before_after'
        ? 'linter'
        : 'such check'
  return { check: 'not_checked', of: check, path, ok: true, tool: 'none', detail: `there is no ${means} for ${kind}` }
}

export type SyntaxQuestion = { language: string; text: string } & (
  | { want: 'facts' | 'tests' | 'definitions' }
  | { want: 'mutants'; start: number; end: number; most: number }
)
export type SyntaxReport =
  | { found: 'facts'; facts: SyntaxFacts }
  | { found: 'tests'; tests: TestFunction[] }
  | { found: 'definitions'; definitions: Definition[] }
  | { found: 'mutants'; mutants: Mutant[] }

type Text = { language: string; text: string }

/** Each throws TOOL_006 for a text that is too deep, too large or too slow for its grammar; the next text is unaffected. */
export type SyntaxChecker = {
  read(text: Text): Promise<SyntaxFacts>
  /** The tests that the text of a test file has. */
  tests(text: Text): Promise<TestFunction[]>
  definitions(text: Text): Promise<Definition[]>
  /** Faults to plant in the text, from `start` to `end`. */
  mutants(text: Text, of: { start: number; end: number; most: number }): Promise<Mutant[]>
  /** Ends the thread, if there is one; running requests fail. Safe to call twice. */
  close(): Promise<void>
}

/** Parses in a thread, since a text may damage a grammar's scanner. The thread starts with the first text. */
export function openSyntaxChecker({ limitMs = 10_000 }: { limitMs?: number } = {}): SyntaxChecker {
  const entry = new URL('./syntax-thread.ts', import.meta.url)
  const pool = openThreadPool<SyntaxQuestion, SyntaxReport>({ entry, name: 'the parser', limitMs, threads: 1 })
  const ask = async (question: SyntaxQuestion) => {
    const answer = await pool.ask(question)
    if (answer.kind === 'report') return answer.report
    throw new AppError('TOOL_006', `the file cannot be parsed: ${answer.why}`, { phase: 'execution' })
  }
  return {
    async read(text) {
      const report = await ask({ ...text, want: 'facts' })
      return report.found === 'facts' ? report.facts : otherReport()
    },
    async tests(text) {
      const report = await ask({ ...text, want: 'tests' })
      return report.found === 'tests' ? report.tests : otherReport()
    },
    async definitions(text) {
      const report = await ask({ ...text, want: 'definitions' })
      return report.found === 'definitions' ? report.definitions : otherReport()
    },
    async mutants(text, of) {
      const report = await ask({ ...text, ...of, want: 'mutants' })
      return report.found === 'mutants' ? report.mutants : otherReport()
    },
    close: pool.close,
  }
}

function otherReport(): never {
  throw new TypeError('the parser answered another question')
}
