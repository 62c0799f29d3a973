import type { DescribedDefinition, DocPlace, InsertedComment } from '#languages/comments/doc-comments.ts'
import { AppError, hasCode } from '#domain/error.ts'
import { defaultTextStyle, type PathRules } from '#domain/path-rules.ts'
import type { Evidence } from '#domain/change-set.ts'
import type { TestCheck, TextCheck } from '#domain/checks.ts'
import { openThreadPool } from '#platform/thread-pool.ts'
import { fileKind, grammarVersion } from '#languages/syntax/grammars.ts'
import { addedCharacter } from '#languages/syntax/hidden-characters.ts'
import { changedRuns, linesOf } from '#platform/changed-ranges.ts'
import { commentFault } from './code-and-comments.ts'
import { lineLengthKept } from './line-length.ts'
import type { Mutant } from './mutants.ts'
import { hasNewFault, type SyntaxFacts } from './parses.ts'
import { documentedAs } from './parameters-documented.ts'
import type { CheckResult } from './python-facts.ts'
import type { ScriptQuestion } from './javascript/script-evidence.ts'
import type { Definition, TestFunction } from './test-functions.ts'

type CheckedText = { path: string; before: string | undefined; after: string; rules: Pick<PathRules, 'text'> }

/**
 * Makes the checks of a file that is not Python one by one, and parses each of its two texts once. Of a change of comments alone
 * nearly everything is proved by that: the code is the same. Of any other, that it adds no syntax error and loses no comment.
 */
export function openSyntaxEvidence(syntax: Pick<SyntaxChecker, 'read'>) {
  return (file: CheckedText, language: string) => {
    let reading: Promise<[SyntaxFacts, SyntaxFacts]> | undefined
    const onlyComments = `of ${fileKind(file.path, language)} only changes of comments can be checked for it`
    return async (check: TextCheck): Promise<Evidence> => {
      const proof = { check, path: file.path, tool: grammarVersion(language) }
      try {
        reading ??= readBoth(file, language, syntax)
        const result = resultOf(check, { file, language, facts: await reading })
        if (result === undefined) return notChecked(check, file.path, onlyComments)
        const { fault, says, ...figures } = result
        const detail = fault ?? says
        return { ...proof, ok: fault === undefined, ...figures, ...(detail === undefined ? {} : { detail }) }
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

type Compared = { file: CheckedText; language: string; facts: readonly [SyntaxFacts, SyntaxFacts] }

function resultOf(check: TextCheck, { file, language, facts: [was, now] }: Compared): CheckResult | undefined {
  const figures = { before: was.comments.length, after: now.comments.length }
  const isSameCode = file.before !== undefined && was.code === now.code
  const fault = commentFault(was.comments, now.comments, { isSameCode, language })
  const hidden = addedCharacter(file.before ?? '', file.after)
  if (check === 'parses') return parsed(was, now)
  if (check === 'comments_kept') return { ...figures, fault }
  if (check === 'docstring_only') return { ...figures, fault: isSameCode ? (fault ?? hidden) : 'the code changes' }
  if (check === 'parameters_documented' || check === 'says_something') return documentedAs(check, was.docs, now.docs)
  if (!isSameCode || fault !== undefined) return undefined
  if (check === 'line_length') return commentLines(file, [was, now])
  return { fault: undefined, says: 'the code is the same: only comments change' }
}

function parsed({ faults: was }: SyntaxFacts, { faults: now }: SyntaxFacts): CheckResult {
  const says = now.first === undefined ? undefined : `line ${now.first.line}: ${now.first.words}`
  const figures = { before: was.places, after: now.places }
  return hasNewFault(was, now)
    ? { ...figures, fault: says ?? 'it does not parse' }
    : { ...figures, fault: undefined, says }
}

/** Returns undefined where the repository's line length was not read. */
function commentLines({ before, after, rules }: CheckedText, facts: readonly [SyntaxFacts, SyntaxFacts]) {
  if (rules.text === defaultTextStyle) return undefined
  const [was, now] = [before ?? '', after].map((text, at) => {
    const rows = new Set((facts[at]?.comments ?? []).flatMap(rowsOf))
    return { lines: () => linesOf(text), docstringRows: () => rows }
  })
  if (was === undefined || now === undefined) return undefined
  return lineLengthKept({ before: was, after: now, lineRuns: () => changedRuns(was.lines(), now.lines()) }, rules.text)
}

function rowsOf({ line, endLine }: { line: number; endLine: number }): number[] {
  return Array.from({ length: endLine - line + 1 }, (_, at) => line - 1 + at)
}

export function notChecked(of: TextCheck | TestCheck, path: string, detail: string): Evidence {
  return { check: 'not_checked', of, path, ok: true, tool: 'none', detail }
}

type Text = { language: string; text: string }

export type SyntaxQuestion =
  | ({ want: 'facts' | 'tests' | 'definitions' } & Text)
  | ({ want: 'mutants'; start: number; end: number; most: number } & Text)
  | { want: 'check'; of: ScriptQuestion }
  | { want: 'description'; of: DocPlace }
  | { want: 'insertion'; of: DocPlace; docstring: string }
export type SyntaxReport =
  | { found: 'facts'; facts: SyntaxFacts }
  | { found: 'tests'; tests: TestFunction[] }
  | { found: 'definitions'; definitions: Definition[] }
  | { found: 'mutants'; mutants: Mutant[] }
  | { found: 'result'; result: CheckResult }
  | { found: 'description'; description: DescribedDefinition | undefined }
  | { found: 'insertion'; insertion: InsertedComment }

/** Each throws TOOL_006 for a text that is too deep, too large or too slow for its grammar; the next text is unaffected. */
export type SyntaxChecker = {
  read(text: Text): Promise<SyntaxFacts>
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
    read: async (text) => (await ask({ ...text, want: 'facts' }, 'facts')).facts,
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
