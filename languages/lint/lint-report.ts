import { AppError } from '#domain/error.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import type { Lost } from './server-turns.ts'
import type { TextEdit } from './text-edit.ts'

/** One lint fault. Lines and columns are 1-based; `start`/`end` are UTF-16 units of the text. */
export type Diagnostic = {
  code: string
  message: string
  line: number
  column: number
  start: number
  end: number
  /** Edits of a fix that is on our safe list and that the repository allows; undefined when there is none. */
  fix: TextEdit[] | undefined
  /** Says why a fix that the linter has is not made: `ours`, it is not on our list; `unsafe`, it counts as unsafe in this file. */
  withheld?: 'ours' | 'unsafe'
  /** Says why what is reported has to stay, although the linter sees no need: it has no fix then, and no agent is asked for one. */
  mustStay?: string
}

export type LintReport = {
  /** Lists faults under the repository's own rules; empty for a file that its linter excludes or that does not parse. */
  diagnostics: Diagnostic[]
  /** Lists faults that no change may add, whatever the rules are. */
  guards: Diagnostic[]
  syntaxErrors: Diagnostic[]
}

/** `formatted`: the text as its formatter writes it, where the linter is one. */
export type LintAnswer = { kind: 'report'; report: LintReport; formatted?: string | undefined } | Lost

const diagnosticBytes = 550

/**
 * Caches answers, since every operation on a file starts from the same text; `maxBytes` is about. TOOL_006 for a text that
 * the linter could not handle, as long as that answer is cached; the next text is not affected.
 */
export function openLintAnswers(maxBytes: number) {
  const answers = openCachedAnswers<LintAnswer>({ max: 500, maxSize: maxBytes, sizeOf })
  return async (key: string, lint: () => Promise<LintAnswer>) => {
    const answer = await answers.get(key, lint)
    if (answer.kind === 'report') return answer
    throw new AppError('TOOL_006', `the file cannot be linted: ${answer.why}`, { phase: 'execution' })
  }
}

function sizeOf(answer: LintAnswer): number {
  if (answer.kind === 'lost') return 1
  const { diagnostics, guards } = answer.report
  const added = diagnostics.flatMap(({ fix = [] }) => fix).reduce((sum, { text }) => sum + 50 + text.length, 0)
  return 1 + diagnosticBytes * (diagnostics.length + guards.length) + added + (answer.formatted ?? '').length
}
