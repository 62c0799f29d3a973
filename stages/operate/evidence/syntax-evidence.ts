import type { DescribedDefinition, DocPlace, InsertedComment } from '#languages/comments/doc-comments.ts'
import { AppError, hasCode } from '#domain/error.ts'
import { defaultTextStyle, type PathRules } from '#domain/path-rules.ts'
import type { Evidence } from '#domain/change-set.ts'
import type { TestCheck, TextCheck } from '#domain/checks.ts'
import { openThreadPool } from '#platform/thread-pool.ts'
import { fileKind, grammarVersion } from '#languages/syntax/grammars.ts'
import { type ChangedText, type SyntaxVerdicts, verdictOf } from './compare-syntax.ts'
import type { Mutant } from './mutants.ts'
import type { SyntaxFaults } from './parses.ts'
import { type CheckResult, once } from './python-facts.ts'
import type { ScriptQuestion } from './javascript/script-evidence.ts'
import type { Definition, TestFunction } from './test-functions.ts'

type CheckedText = { path: string; before: string | undefined; after: string; rules: Pick<PathRules, 'text'> }

/** `isOnlyComments`: nothing but harmless changes of comments, by which nearly every check is proved. */
export type SyntaxEvidence = { prove(check: TextCheck): Promise<Evidence>; isOnlyComments(): Promise<boolean> }

/**
 * Makes the checks of a file that is not Python one by one, and parses each of its two texts once. Of a change of comments alone
 * nearly everything is proved by that: the code is the same. Of any other, that it adds no syntax error and loses no comment.
 */
export function openSyntaxEvidence(syntax: Pick<SyntaxChecker, 'compare'>) {
  return ({ path, before, after, rules }: CheckedText, language: string): SyntaxEvidence => {
    const limits = rules.text === defaultTextStyle ? undefined : rules.text // of a repository whose line length was read
    const verdicts = once(() => syntax.compare({ language, before, after, limits }))
    const onlyComments = `of ${fileKind(path, language)} only changes of comments can be checked for it`
    return {
      isOnlyComments: async () => (await verdicts()).isOnlyComments,
      async prove(check) {
        const proof = { check, path, tool: grammarVersion(language) }
        try {
          const result = verdictOf(check, await verdicts())
          if (result === undefined) return notChecked(check, path, onlyComments)
          const { fault, says, ...figures } = result
          const detail = fault ?? says
          return { ...proof, ok: fault === undefined, ...figures, ...(detail === undefined ? {} : { detail }) }
        } catch (error) {
          if (!hasCode(error, 'TOOL_006')) throw error
          return { ...proof, ok: false, detail: error.message }
        }
      },
    }
  }
}

export function notChecked(of: TextCheck | TestCheck, path: string, detail: string): Evidence {
  return { check: 'not_checked', of, path, ok: true, tool: 'none', detail }
}

type Text = { language: string; text: string }

export type SyntaxQuestion =
  | ({ want: 'faults' | 'tests' | 'definitions' } & Text)
  | { want: 'verdicts'; of: ChangedText }
  | ({ want: 'mutants'; start: number; end: number; most: number } & Text)
  | { want: 'check'; of: ScriptQuestion }
  | { want: 'description'; of: DocPlace }
  | { want: 'insertion'; of: DocPlace; docstring: string }
export type SyntaxReport =
  | { found: 'faults'; faults: SyntaxFaults }
  | { found: 'verdicts'; verdicts: SyntaxVerdicts }
  | { found: 'tests'; tests: TestFunction[] }
  | { found: 'definitions'; definitions: Definition[] }
  | { found: 'mutants'; mutants: Mutant[] }
  | { found: 'result'; result: CheckResult }
  | { found: 'description'; description: DescribedDefinition | undefined }
  | { found: 'insertion'; insertion: InsertedComment }

/** Each throws TOOL_006 for a text that is too deep, too large or too slow for its grammar; the next text is unaffected. */
export type SyntaxChecker = {
  faults(text: Text): Promise<SyntaxFaults>
  compare(of: ChangedText): Promise<SyntaxVerdicts>
  tests(text: Text): Promise<TestFunction[]>
  definitions(text: Text): Promise<Definition[]>
  mutants(text: Text, of: { start: number; end: number; most: number }): Promise<Mutant[]>
  check(of: ScriptQuestion): Promise<CheckResult>
  /** Returns undefined where there is no definition that may have a doc comment. */
  describe(of: DocPlace): Promise<DescribedDefinition | undefined>
  insert(of: DocPlace, docstring: string): Promise<InsertedComment>
  /** Ends the thread, if there is one; running requests fail. Safe to call twice. */
  close(): Promise<void>
}

/** Parses in a thread, since a text may damage a grammar's scanner. The thread starts with the first text. */
export function openSyntaxChecker({ limitMs = 10_000 }: { limitMs?: number } = {}): SyntaxChecker {
  const entry = new URL('./syntax-thread.ts', import.meta.url)
  const pool = openThreadPool<SyntaxQuestion, SyntaxReport>({ entry, name: 'the parser', limitMs, threads: 1 })
  const ask = async <Found extends SyntaxReport['found']>(question: SyntaxQuestion, found: Found) => {
    const answer = await pool.ask(question)
    if (answer.kind !== 'report')
      throw new AppError('TOOL_006', `the file cannot be parsed: ${answer.why}`, { phase: 'execution' })
    if (isFound(answer.report, found)) return answer.report
    throw new TypeError('the parser answered another question')
  }
  return {
    faults: async (text) => (await ask({ ...text, want: 'faults' }, 'faults')).faults,
    compare: async (of) => (await ask({ want: 'verdicts', of }, 'verdicts')).verdicts,
    tests: async (text) => (await ask({ ...text, want: 'tests' }, 'tests')).tests,
    definitions: async (text) => (await ask({ ...text, want: 'definitions' }, 'definitions')).definitions,
    mutants: async (text, of) => (await ask({ ...text, ...of, want: 'mutants' }, 'mutants')).mutants,
    check: async (of) => (await ask({ want: 'check', of }, 'result')).result,
    describe: async (of) => (await ask({ want: 'description', of }, 'description')).description,
    insert: async (of, docstring) => (await ask({ want: 'insertion', of, docstring }, 'insertion')).insertion,
    close: pool.close,
  }
}

function isFound<Found extends SyntaxReport['found']>(
  report: SyntaxReport,
  found: Found,
): report is Extract<SyntaxReport, { found: Found }> {
  return report.found === found
}
